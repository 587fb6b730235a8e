import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { packedPage } from '../../scripts/packed-page';
import { PAGES } from '../docs/blocks';

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly engines: object;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: object;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: object;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

describe('The manifests of the library and of the service', () => {
  const library = read('package.json');
  const service = read('service/package.json');
  const packed = library.files.filter((file) => file.startsWith('dist/'));

  it('have the same version, license and engines', () => {
    const common = ({ version, license, engines }: Manifest) => ({ version, license, engines });
    expect(common(service)).to.deep.equal(common(library));
  });

  it('give the library no dependencies', () => {
    expect(library).not.to.have.any.keys('dependencies', 'optionalDependencies');
  });

  it('pack the folder of each entry point of the library, and no other', () => {
    const folders = Object.keys(library.exports).filter((name) => !['.', './package.json'].includes(name));
    expect(packed).to.have.members(folders.map((name) => name.replace('./', 'dist/')));
  });

  it('pack every file to which a page links, in the service', () => {
    for (const page of PAGES) {
      for (const [, target] of readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        const file = join(dirname(page), target!);
        const isPacked =
          file === 'README.md' ||
          (service.files.some((each) => `${file}/`.startsWith(`${each}/`)) &&
            !service.files.includes(`!${file}`));
        expect(isPacked, `${page} links to ${target!}`).to.equal(true);
      }
    }
  });

  it('pack the pages of the library with links to the documentation in place of files that are not packed', () => {
    const page = '[a](b.md) [c](../docs/c.md#d) [`e`](../e.md) [f](#f) [g](https://g.example) [h](h/)';
    const packedAt = (documentation?: string) =>
      packedPage(page, 'docs/a.md', (file) => ['docs/b.md', 'docs/h'].includes(file), documentation);
    expect(packedAt('https://docs.example')).to.equal(
      '[a](b.md) [c](https://docs.example/c.md#d) `e` [f](#f) [g](https://g.example) [h](h/)',
    );
    expect(packedAt()).to.equal('[a](b.md) c `e` [f](#f) [g](https://g.example) [h](h/)');
  });

  it('make every package that the library imports an optional peer of any version', () => {
    const imported = packed.flatMap((folder) => [...packagesOf(folder.replace('dist/', 'src/'))]);
    const peers = new Set([...imported, '@types/koa']);
    expect(library.peerDependencies).to.deep.equal(Object.fromEntries([...peers].map((name) => [name, '*'])));
    expect(library.peerDependenciesMeta).to.deep.equal(
      Object.fromEntries([...peers].map((name) => [name, { optional: true }])),
    );
  });

  it('have the versions that docs/write-a-transport.md names', () => {
    const page = readFileSync('docs/write-a-transport.md', 'utf8');
    const named = [...page.matchAll(/(@?[\w/-]+)@(\d+)/g)].filter(
      ([, name]) => name! in library.peerDependencies,
    );
    expect(new Set(named.map(([, name]) => name))).to.have.keys(Object.keys(library.peerDependencies));
    for (const [, name, major] of named)
      expect(library.devDependencies[name!], name).to.match(new RegExp(`^\\^${major!}\\.`));
  });

  it('give the service the packages that it imports, in the versions of the tests', () => {
    const imported = packagesOf('src');
    for (const name of packagesOf('src/testing')) imported.delete(name);
    // Its files are part of the build.
    imported.delete('swagger-ui-dist');
    expect(service.dependencies).to.deep.equal(
      Object.fromEntries([...imported].map((name) => [name, library.devDependencies[name]])),
    );
  });
});

/** The names of the packages that the sources in `folder` import, with or without their types alone. */
function packagesOf(folder: string): Set<string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), 'utf8').matchAll(
        /(?:from |import |import\(|require\(|require\.resolve\()'(?!\.|node:)((?:@[^/']+\/)?[^/']+)/g,
      ),
    ]);
  return new Set(names.map(([, name]) => name!));
}
