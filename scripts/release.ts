/**
 * Makes a release: `npm run release -- 0.2.0 --key FILE --repository URL --documentation URL`, where FILE is the private
 * SSH key of the operator.
 *
 * All steps run in a clone of the commit: they write the version, the heading of CHANGELOG.md, the addresses and the digests of the images,
 * commit, make the files of `release/`, sign and tag. Only then the commit and the tag come into this repository; with `--dry-run` they do not.
 * It pushes nothing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { toOciArchive } from './oci-archive';
import {
  type Audit,
  addressed,
  changelogOf,
  pinned,
  problemsOf,
  provenanceOf,
  renamed,
  severeIn,
  withRunbooksAt,
} from './release-plan';

const { values, positionals } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    key: { type: 'string', default: '' },
    repository: { type: 'string', default: '' },
    documentation: { type: 'string', default: '' },
  },
  allowPositionals: true,
});
const [version = ''] = positionals;
const { repository, documentation } = values;
const addresses = { repository, documentation };
const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const startedOn = new Date().toISOString();
const key = resolve(values.key);

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const setting = (name: string) => spawnSync('git', ['config', name], { encoding: 'utf8' }).stdout.trim();
const answers = (command: string, ...args: string[]) => spawnSync(command, args).error === undefined;

const problems = problemsOf({
  version,
  current,
  branch: git('branch', '--show-current'),
  changes: git('status', '--porcelain'),
  tags: git('tag', '--list').split('\n'),
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
  missing: [
    ...['npm', 'docker', 'ssh-keygen', 'bash', 'sha256sum'].filter((tool) => !answers(tool, '--version')),
    ...['user.name', 'user.email'].filter((name) => setting(name) === '').map((name) => `git config ${name}`),
    ...(existsSync(key) && values.key !== '' ? [] : ['a private SSH key (--key FILE)']),
    ...(spawnSync('docker', ['version']).status === 0 ? [] : ['a Docker daemon']),
  ],
  addresses,
});
if (problems.length > 0) {
  console.error(problems.map((problem) => `cannot release: ${problem}`).join('\n'));
  process.exit(2);
}

const place = mkdtempSync(join(tmpdir(), 'plant-store-release-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));
const inClone = (path: string) => join(place, path);
const output = inClone('release');

run('git', 'clone', '--quiet', '--branch', 'main', resolve('.'), place);
for (const name of ['user.name', 'user.email']) run('git', 'config', name, setting(name));
writeVersion();
writeAddresses();
run('npm', 'ci', '--no-audit', '--no-fund', '--loglevel', 'error');
mkdirSync(output);
audit();
images();
run('git', 'commit', '--quiet', '--all', '--message', `Release ${version}`);
run('npm', 'run', '--silent', 'pack', '--', '--pack-destination', 'release');
run('npm', 'pack', '--workspace', 'service', '--pack-destination', 'release');
writeFileSync(join(output, `plant-store-${version}.cdx.json`), textOf('bash', 'scripts/sbom.sh'));
writeFileSync(join(output, 'provenance.json'), provenance());
writeFileSync(join(output, 'SHA256SUMS'), textOf('bash', '-c', 'cd release && sha256sum *'));
run('ssh-keygen', '-q', '-Y', 'sign', '-f', key, '-n', 'plant-store', 'release/SHA256SUMS');
const signed = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`];
run('git', ...signed, 'tag', '--sign', `v${version}`, '--message', `Release ${version}`);

rmSync('release', { recursive: true, force: true });
cpSync(output, 'release', { recursive: true });
if (!values['dry-run']) git('pull', '--quiet', '--ff-only', '--tags', place, 'main');
console.log(`\n${values['dry-run'] ? 'A dry run: nothing was committed or tagged. It would publish' : 'To publish'}:
  git push --follow-tags    the commit "Release ${version}" and the tag v${version}`);
for (const name of readdirSync('release')) console.log(`  release/${name}`);

/** Runs a command in the clone. */
function run(command: string, ...args: readonly string[]): void {
  console.log([command, ...args].join(' '));
  execFileSync(command, args, { cwd: place, stdio: ['ignore', 'inherit', 'inherit'] });
}

function textOf(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: place, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** Changes the files of the clone whose paths match. */
function edit(paths: string, changed: (text: string, path: string) => string): void {
  for (const path of git('ls-files', paths).split('\n')) {
    const text = readFileSync(inClone(path), 'utf8');
    const edited = changed(text, path);
    if (edited !== text) writeFileSync(inClone(path), edited);
  }
}

function writeVersion(): void {
  edit('*.md', (text, path) =>
    path === 'CHANGELOG.md'
      ? changelogOf(text, version, startedOn.slice(0, 10))
      : renamed(text, current, version),
  );
  edit('deploy/*.yaml', (text) => renamed(text, current, version));
  const quiet = ['--no-git-tag-version', '--allow-same-version', '--ignore-scripts'];
  run('npm', 'version', version, '--workspaces', '--include-workspace-root', ...quiet);
}

function writeAddresses(): void {
  edit('package.json', (text) => addressed(text, addresses));
  edit('service/package.json', (text) => addressed(text, addresses, 'service'));
  edit('deploy/*.yaml', (text) => withRunbooksAt(documentation, text));
  console.log(`the packages name ${repository}, and the alerts link runbooks at ${documentation}`);
}

/** Not every registry knows vulnerabilities. One that does stops a release with a severe one. */
function audit(): void {
  const options = { cwd: place, encoding: 'utf8' } as const;
  const { stdout } = spawnSync(
    'npm',
    ['audit', '--omit', 'dev', '--workspace', 'service', '--json'],
    options,
  );
  const found = JSON.parse(stdout) as Audit;
  writeFileSync(join(output, 'audit.json'), stdout);
  const severe = severeIn(found);
  if (severe === undefined)
    console.log('NO AUDIT: the registry does not answer one; audit.json has its error');
  else if (severe > 0)
    throw new Error(`npm audit found ${severe} severe vulnerabilities: npm audit --omit dev`);
}

/** Writes the archive of the images, and their digests into the manifests. The base images are those of the environment, or of the Dockerfiles. */
function images(): void {
  const local = process.env.NODE_IMAGE === undefined ? [] : ['--network', 'host'];
  const tags = [`plant-store:${version}`, `plant-store-operator:${version}`] as const;
  run('docker', 'build', '--quiet', ...local, '--build-arg', 'NODE_IMAGE', '--tag', tags[0], '.');
  const service = ['--build-arg', `SERVICE_IMAGE=${tags[0]}`, '--build-arg', 'REDIS_IMAGE'];
  run(
    'docker',
    'build',
    '--quiet',
    '--file',
    'deploy/operator.Dockerfile',
    ...service,
    '--tag',
    tags[1],
    'deploy',
  );
  const archive = `release/plant-store-${version}.images.tar`;
  run('docker', 'save', '--output', archive, ...tags);
  const digests = [...toOciArchive(inClone(archive))];
  edit('deploy/kubernetes/*.yaml', (text) =>
    digests.reduce((edited, [name, digest]) => pinned(edited, name, digest), text),
  );
}

function provenance(): string {
  const digest = (path: string) =>
    createHash('sha256')
      .update(readFileSync(inClone(path)))
      .digest('hex');
  return provenanceOf({
    version,
    commit: textOf('git', 'rev-parse', 'HEAD').trim(),
    startedOn,
    finishedOn: new Date().toISOString(),
    tools: { node: process.version, npm: textOf('npm', '--version').trim() },
    lockFile: digest('package-lock.json'),
    files: readdirSync(output).map((name) => ({ name, sha256: digest(join('release', name)) })),
  });
}
