import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { theBlock } from '../docs/shell';
import { temporaryDirectory } from '../support/temporary-directory';
import { describeDocker, say } from './docker';

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: { readonly resolvedDependencies: readonly { readonly digest: object }[] };
  };
}

describeDocker('npm run release -- 0.1.0 --dry-run, in a clean clone', function () {
  const path = temporaryDirectory();

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

    const said = await inClone(`npm run --silent release -- 0.1.0 --dry-run --key ${path('key')}`);

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
    const images = await inClone('tar -xOf release/plant-store-0.1.0.images.tar manifest.json');
    expect(images).to.contain('plant-store:0.1.0').and.to.contain('plant-store-operator:0.1.0');
    const page = await inClone('tar -xOf release/plant-store-0.1.0.tgz package/CHANGELOG.md');
    expect(page).to.match(/^## \[0\.1\.0\] - /m);
    writeFileSync(path('clone/release/plant-store-0.1.0.tgz'), 'another');
    expect(await inClone(`cd release && ${check}`).catch(String)).to.contain('plant-store-0.1.0.tgz: FAILED');
  });
});
