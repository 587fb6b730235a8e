/**
 * Makes a release: `npm run release -- 0.2.0`. With `--dry-run` it prints what it would do, and changes nothing.
 *
 * Writes the version, also into pages and manifests, and the heading of CHANGELOG.md. Commits. Makes the artifacts in
 * `release/`: package, image with provenance, bills of materials, checksums. Tags the commit. It pushes nothing.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { artifacts, changelogOf, problemsOf, renamed } from './release-plan';

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [version = ''] = positionals;
const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const texts = git('ls-files', '*.md', 'deploy/*.yaml')
  .split('\n')
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const changelog = texts.find(({ path }) => path === 'CHANGELOG.md')!;

const problems = problemsOf({
  version,
  current,
  branch: git('branch', '--show-current'),
  changes: git('status', '--porcelain'),
  tags: git('tag', '--list').split('\n'),
  changelog: changelog.text,
});
if (problems.length > 0) {
  console.error(problems.map((problem) => `cannot release: ${problem}`).join('\n'));
  process.exit(2);
}

const today = new Date().toISOString().slice(0, 10);
write('CHANGELOG.md', changelogOf(changelog.text, version, today));
for (const { path, text } of texts) {
  if (path !== 'CHANGELOG.md' && renamed(text, current, version) !== text)
    write(path, renamed(text, current, version));
}
run(['npm', 'version', version, '--workspaces', '--include-workspace-root', '--no-git-tag-version']);
run(['git', 'commit', '--all', '--message', `Release ${version}`]);
if (!values['dry-run']) {
  rmSync('release', { recursive: true, force: true });
  mkdirSync('release');
}
for (const { command, output } of artifacts(version)) run(command, output);
// Last, so that a commit without artifacts has no tag.
run(['git', 'tag', '--annotate', `v${version}`, '--message', `Release ${version}`]);
console.log(`to publish it: git push --follow-tags, and the files of release/`);

function write(path: string, text: string): void {
  console.log(`write ${path}`);
  if (path === 'CHANGELOG.md') console.log(`  ## [${version}] - ${today}`);
  if (!values['dry-run']) writeFileSync(path, text);
}

/** @param output the file that gets the standard output of the command. */
function run([program = '', ...args]: readonly string[], output?: string): void {
  console.log([program, ...args, ...(output === undefined ? [] : ['>', output])].join(' '));
  if (values['dry-run']) return;
  const text = execFileSync(program, args, {
    stdio: ['ignore', output === undefined ? 'inherit' : 'pipe', 'inherit'],
  });
  if (output !== undefined) writeFileSync(output, text);
}
