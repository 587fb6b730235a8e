import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { theBlock } from '../docs/shell';
import { isOnPath } from '../support/programs';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { describeDocker, docker, say } from './docker';

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: { readonly resolvedDependencies: readonly { readonly digest: object }[] };
  };
}

interface Kustomization {
  readonly images: readonly { readonly digest: string }[];
}

describeDocker('npm run release -- 0.1.0 --dry-run, in a clean clone', suite, () => {
  const missing = ['skopeo', 'docker-registry'].find((program) => !isOnPath(program));
  return Promise.resolve(missing && `no ${missing} is on the PATH`);
});

function suite(): void {
  const path = temporaryDirectory();

  /** Publishes an image of the release as the page says, in a registry of this test, and pulls it by its digest. */
  async function published(archive: string, name: string, digest: string): Promise<void> {
    const port = await freePort();
    const storage = { filesystem: { rootdirectory: path(`registry-${name}`) } };
    const config = path('registry.json');
    writeFileSync(config, JSON.stringify({ version: '0.1', storage, http: { addr: `127.0.0.1:${port}` } }));
    const registry = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
    const forgotten = endWithProcess(() => registry.kill('SIGKILL'));
    try {
      const answers = () =>
        fetch(`http://127.0.0.1:${port}/v2/`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until(answers);
      const command = theBlock('sh release push')
        .text.replace('skopeo copy', 'skopeo copy --dest-tls-verify=false')
        .replace('registry.example', `127.0.0.1:${port}`)
        .replace('plant-store-0.1.0.images.tar', archive);
      await say('bash', ['-ec', command], { IMAGE: name });
      const image = `127.0.0.1:${port}/${name}@${digest}`;
      await docker('pull', '--quiet', image);
      expect(await docker('inspect', '--format', '{{json .Config.Entrypoint}}', image)).to.match(
        /node|redis.sh/,
      );
      await docker('rmi', image);
    } finally {
      registry.kill('SIGKILL');
      forgotten();
    }
  }

  it('makes all files with checksums, provenance and a signature, says what it would publish, and changes nothing', async function () {
    this.timeout(600_000);
    const clone = path('clone');
    const inClone = (command: string) => say('bash', ['-c', `cd ${clone} && ${command}`]);
    await say('git', ['clone', '--quiet', resolve('.'), clone]);
    await inClone(
      'git switch --quiet -C main && git config user.name a && git config user.email a@example.com',
    );
    await inClone(
      'git tag --list | xargs -r git tag --delete && npm ci --no-audit --no-fund --loglevel error',
    );
    await say('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path('key')]);
    const before = await inClone('git log --all --decorate --format=%H%d');

    const address = 'https://git.example/plant-store';
    const said = await inClone(
      `npm run --silent release -- 0.1.0 --dry-run --key ${path('key')} --repository ${address} --documentation ${address}/docs`,
    );

    expect(said).to.match(/^NO AUDIT: |^A dry run: nothing was committed or tagged/m);
    expect(await inClone('git status --porcelain')).to.equal('');
    expect(await inClone('git log --all --decorate --format=%H%d')).to.equal(before);
    const files = readdirSync(path('clone/release'));
    expect(files).to.deep.equal([
      ...['SHA256SUMS', 'SHA256SUMS.sig', 'audit.json'],
      ...['plant-store-0.1.0.cdx.json', 'plant-store-0.1.0.images.tar', 'plant-store-0.1.0.tgz'],
      ...['plant-store-service-0.1.0.tgz', 'provenance.json'],
    ]);
    for (const name of files) expect(said).to.contain(`release/${name}`);

    // As the pages tell those who install a release.
    const [type, publicKey] = readFileSync(path('key.pub'), 'utf8').split(' ');
    writeFileSync(path('clone/release/allowed_signers'), `release ${type} ${publicKey}\n`);
    const check = theBlock('sh release check').text;
    await inClone(`cd release && ${check}`);

    const read = (name: string) => readFileSync(path(`clone/release/${name}`));
    const { subject, predicate } = JSON.parse(read('provenance.json').toString()) as Statement;
    expect(subject.map(({ name }) => name)).to.deep.equal(
      files.filter((name) => !/^SHA256SUMS|^provenance/.test(name)),
    );
    for (const { name, digest } of subject)
      expect(digest.sha256, name).to.equal(createHash('sha256').update(read(name)).digest('hex'));
    expect(predicate.buildDefinition.resolvedDependencies[0]!.digest).to.have.property('gitCommit');
    const inTarball = (name: string, file: string) =>
      inClone(`tar -xOf release/${name}-0.1.0.tgz package/${file}`);
    for (const name of ['plant-store', 'plant-store-service'])
      expect(JSON.parse(await inTarball(name, 'package.json')), name).to.include({
        homepage: `${address}/docs`,
        bugs: `${address}/issues`,
      });
    expect(await inTarball('plant-store', 'README.md')).to.contain(`](${address}/docs/operations.md)`);
    expect(await inTarball('plant-store-service', 'deploy/prometheus/rules.yaml')).to.contain(
      `runbook_url: ${address}/docs/operations.md#health`,
    );
    const packed = (name: string) => inTarball('plant-store-service', `deploy/kubernetes/${name}`);
    for (const [name, kustomization] of [
      ['plant-store', 'kustomization.yaml'],
      ['plant-store-operator', 'backup/kustomization.yaml'],
    ] as const) {
      const { digest } = (parse(await packed(kustomization)) as Kustomization).images[0]!;
      await published(path('clone/release/plant-store-0.1.0.images.tar'), name, digest);
    }
    expect(await packed('backup/restore-job.yaml')).to.match(
      /image: \S+\/plant-store-operator:0\.1\.0@sha256:/,
    );
    expect(await inTarball('plant-store', 'CHANGELOG.md')).to.match(/^## \[0\.1\.0\] - /m);
    writeFileSync(path('clone/release/plant-store-0.1.0.tgz'), 'another');
    expect(await inClone(`cd release && ${check}`).catch(String)).to.contain('plant-store-0.1.0.tgz: FAILED');
  });
}
