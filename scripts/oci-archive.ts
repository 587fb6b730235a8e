/**
 * Converts what `docker save` writes into an OCI image layout (https://github.com/opencontainers/image-spec), which
 * `docker load` reads, too. Its manifests have a digest before they are in a registry, and keep it there.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** An image in manifest.json of `docker save`. */
interface SavedImage {
  readonly Config: string;
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const TYPE = 'application/vnd.oci.image';

/** Replaces the file by the archive. Returns the digest of each image, by its name without the tag. */
export function toOciArchive(file: string): ReadonlyMap<string, string> {
  const place = mkdtempSync(join(tmpdir(), 'plant-store-oci-'));
  try {
    const [saved, layout] = [join(place, 'saved'), join(place, 'layout')];
    for (const directory of [saved, join(layout, 'blobs/sha256')]) mkdirSync(directory, { recursive: true });
    execFileSync('tar', ['-xf', file, '-C', saved]);
    const images = JSON.parse(readFileSync(join(saved, 'manifest.json'), 'utf8')) as readonly SavedImage[];

    const write = (name: string, content: object) =>
      writeFileSync(join(layout, name), JSON.stringify(content));
    const pathOf = ({ digest }: Descriptor) => `blobs/${digest.replace(':', '/')}`;
    const blob = (mediaType: string, bytes: Buffer): Descriptor => {
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      const descriptor = { mediaType, digest, size: bytes.length };
      writeFileSync(join(layout, pathOf(descriptor)), bytes);
      return descriptor;
    };

    const converted = images.map(({ Config, RepoTags, Layers }) => {
      const config = blob(`${TYPE}.config.v1+json`, readFileSync(join(saved, Config)));
      const layers = Layers.map((layer) =>
        blob(`${TYPE}.layer.v1.tar+gzip`, gzipSync(readFileSync(join(saved, layer)))),
      );
      const manifest = { schemaVersion: 2, mediaType: `${TYPE}.manifest.v1+json`, config, layers };
      const descriptor = blob(manifest.mediaType, Buffer.from(JSON.stringify(manifest)));
      const forDocker = { Config: pathOf(config), RepoTags, Layers: layers.map(pathOf) };
      return { name: RepoTags[0]!.split(':')[0]!, descriptor, forDocker };
    });
    write('oci-layout', { imageLayoutVersion: '1.0.0' });
    write('index.json', {
      schemaVersion: 2,
      mediaType: `${TYPE}.index.v1+json`,
      manifests: converted.map(({ name, descriptor }) => ({
        ...descriptor,
        annotations: { 'org.opencontainers.image.ref.name': name },
      })),
    });
    write(
      'manifest.json',
      converted.map(({ forDocker }) => forDocker),
    );
    execFileSync('tar', ['-cf', file, '-C', layout, 'oci-layout', 'index.json', 'manifest.json', 'blobs']);
    return new Map(converted.map(({ name, descriptor }) => [name, descriptor.digest]));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
