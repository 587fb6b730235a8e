/**
 * `npm run test:trials`: applies each change of test/trials to a copy of this tree, as a developer would make it by
 * docs/extend.md. Types and the tests that its first line names must pass. Then it removes the added lines of source and
 * of tables one at a time: the compiler or one of these tests must notice each. With `-- --part 1/3` it removes only the
 * first, fourth, seventh … of them, and with `-- event` it applies only the changes whose file begins so. Exits with 1 if a removed line is silent.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { inPart } from '../test/support/part';

const TRIALS = 'test/trials';
const NOT_COPIED = ['.git', 'node_modules', 'dist', 'coverage'];

/** An added line, by its number in the changed file. */
interface AddedLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The added lines that a developer could forget: not those of tests, imports, comments and prose. */
function addedLines(patch: string): AddedLine[] {
  const added: AddedLine[] = [];
  let file = '';
  let line = 0;
  for (const text of patch.split('\n')) {
    const [, start] = /^@@ -\S+ \+(\d+)/.exec(text) ?? [];
    if (text.startsWith('+++ b/')) file = text.slice('+++ b/'.length);
    else if (start !== undefined) line = Number(start);
    else if (text.startsWith('+')) added.push({ file, line: line++, text: text.slice(1) });
    else if (text.startsWith(' ')) line++;
  }
  return added.filter(({ file, text }) =>
    file.startsWith('src/') ? !/^\s*(?:$|\/?\*|\/\/|import )/.test(text) : /^\| .*`.*\|$/.test(text),
  );
}

/** Checks the types of the tree at `directory`, each time what has changed since the first. */
function typeChecker(directory: string): () => boolean {
  const path = join(directory, 'tsconfig.json');
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(
    path,
    { incremental: true, noEmit: true },
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => {},
    },
  )!;
  const host = ts.createIncrementalCompilerHost(options);
  const parsed = new Map<string, { text: string; source: ts.SourceFile | undefined }>();
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => {
    const text = host.readFile(name) ?? '';
    if (parsed.get(name)?.text !== text) parsed.set(name, { text, source: parse(name, ...rest) });
    return parsed.get(name)!.source;
  };
  let first: ts.SemanticDiagnosticsBuilderProgram | undefined;
  return () => {
    const program = ts.createSemanticDiagnosticsBuilderProgram(fileNames, options, host, first);
    if (program.getSyntacticDiagnostics().length > 0) return false;
    for (let next = program.getSemanticDiagnosticsOfNextAffectedFile(); next;)
      if (next.result.length > 0) return false;
      else next = program.getSemanticDiagnosticsOfNextAffectedFile();
    first ??= program;
    return true;
  };
}

/** Checks all types. The incremental check misses some errors in the files that import a changed one. */
function allTypesAreRight(directory: string): boolean {
  return spawnSync('node_modules/.bin/tsc', ['--noEmit', '-p', '.'], { cwd: directory }).status === 0;
}

function testsPass(directory: string, files: readonly string[]): boolean {
  const args = ['--exit', '--bail', '--timeout', '20000', ...files];
  return spawnSync('node_modules/.bin/mocha', args, { cwd: directory, stdio: 'ignore' }).status === 0;
}

/** The number of removed lines that were noticed, and the silent ones. */
function runTrial(name: string, isSelected: (index: number) => boolean): [noticed: number, silent: string[]] {
  const patch = readFileSync(join(TRIALS, name), 'utf8');
  const tests = /^Tests: (.+)$/m.exec(patch)![1]!.split(' ');
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'plant-store-trial-')));
  try {
    cpSync('.', copy, { recursive: true, filter: (source) => !NOT_COPIED.includes(basename(source)) });
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    const git = (...args: string[]) => spawnSync('git', args, { cwd: copy, encoding: 'utf8' });
    git('init', '--quiet');
    git('add', '--all');
    const applied = git('apply', '--whitespace=nowarn', resolve(TRIALS, name));
    if (applied.status !== 0) return [0, [`it does not apply: ${applied.stderr}`]];
    const typesAreRight = typeChecker(copy);
    if (!typesAreRight()) return [0, ['its types are wrong']];
    if (!testsPass(copy, tests)) return [0, ['its tests fail']];
    git('add', '--all', '--intent-to-add');
    // By their numbers in the copy: the files may be longer by now than where the patch was written.
    const lines = addedLines(git('diff', '--unified=0').stdout).filter((_, index) => isSelected(index));
    const silent = lines.filter(({ file, line }) => {
      const path = join(copy, file);
      const whole = readFileSync(path, 'utf8');
      writeFileSync(
        path,
        whole
          .split('\n')
          .toSpliced(line - 1, 1)
          .join('\n'),
      );
      const isSilent = typesAreRight() && testsPass(copy, tests) && allTypesAreRight(copy);
      writeFileSync(path, whole);
      return isSilent;
    });
    return [lines.length - silent.length, silent.map(({ file, line, text }) => `${file}:${line}: ${text}`)];
  } finally {
    rmSync(copy, { recursive: true });
  }
}

const { values, positionals } = parseArgs({
  options: { part: { type: 'string', default: '1/1' } },
  allowPositionals: true,
});
let [passed, failed] = [0, 0];
for (const name of readdirSync(TRIALS).filter((each) => each.startsWith(positionals[0] ?? ''))) {
  const [noticed, silent] = runTrial(name, inPart(values.part));
  console.log(
    `${name}: ${noticed} removed lines were noticed${silent.map((line) => `\n  SILENT ${line}`).join('')}`,
  );
  passed += noticed;
  failed += silent.length;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
