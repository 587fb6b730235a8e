/**
 * `npm run test:mutants`: plants each fault of test/mutants into a copy of this tree, one at a time, and runs the test
 * that must fail with it. First, all of these tests must pass in an unchanged copy. With an argument, only the faults
 * whose description contains it; with `--part 1/3` only the first, fourth, seventh … of them. Exits with 1 if a mutant
 * is alive: its test passes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MUTANTS, type Mutant, mutated } from '../test/mutants/mutants';

const NOT_COPIED = ['.git', 'node_modules', 'dist', 'coverage'];
/** Some mutants let a test wait in vain. */
const TEST_TIMEOUT_MS = 20_000;

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'plant-store-mutants-'));
  cpSync('.', copy, { recursive: true, filter: (source) => !NOT_COPIED.includes(basename(source)) });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs the tests of these mutants in the tree at `directory`, up to the first failure. */
async function runTests(directory: string, mutants: readonly Mutant[]) {
  const files = new Set(mutants.map(({ test }) => test.file));
  const titles = mutants.map(({ test }) => test.title.replaceAll(/[^\w\s]/g, '\\$&'));
  const options = ['--exit', '--bail', '--timeout', String(TEST_TIMEOUT_MS), '--grep', titles.join('|')];
  const mocha = spawn('node_modules/.bin/mocha', [...options, ...files], { cwd: directory, stdio: 'pipe' });
  let output = '';
  for (const stream of [mocha.stdout, mocha.stderr]) stream.on('data', (text) => (output += String(text)));
  await once(mocha, 'close');
  const [, passed, failed] = /^(\d+) passed, (\d+) failed/m.exec(output) ?? [];
  if (passed === undefined) throw new Error(`mocha did not come to its end:\n${output}`);
  return { passed: Number(passed), failed: Number(failed), output };
}

/** Whether its test fails with the fault in the tree at `directory`, which is restored afterwards. */
async function isKilled(directory: string, mutant: Mutant): Promise<boolean> {
  const file = join(directory, mutant.file);
  const code = readFileSync(file, 'utf8');
  writeFileSync(file, mutated(code, mutant));
  try {
    const { passed, failed } = await runTests(directory, [mutant]);
    if (passed + failed === 0) throw new Error(`${mutant.test.file} has no test "${mutant.test.title}"`);
    return failed > 0;
  } finally {
    writeFileSync(file, code);
  }
}

/** The mutants that the arguments select. */
function selected(args: readonly string[]): Mutant[] {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { part: { type: 'string', default: '1/1' } },
    allowPositionals: true,
  });
  const [, part, parts] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(values.part) ?? [];
  if (!(Number(part) <= Number(parts))) throw new Error('--part must be like 1/3');
  const [wanted = ''] = positionals;
  return MUTANTS.filter(({ fault }) => fault.includes(wanted)).filter(
    (_, index) => index % Number(parts) === Number(part) - 1,
  );
}

async function main(mutants: readonly Mutant[]): Promise<void> {
  const copies = Array.from({ length: availableParallelism() }, copyTree);
  try {
    const unchanged = await runTests(copies[0]!, mutants);
    if (unchanged.failed > 0) throw new Error(`a test fails without a fault:\n${unchanged.output}`);

    const waiting = [...mutants];
    let killed = 0;
    const killNext = async (directory: string) => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const isDead = await isKilled(directory, next);
        if (isDead) killed++;
        else console.log(`ALIVE: ${next.fault} (${next.file}; ${next.test.file}: ${next.test.title})`);
      }
    };
    await Promise.all(copies.map(killNext));
    console.log(`${killed} passed, ${mutants.length - killed} failed`);
    if (killed < mutants.length) process.exitCode = 1;
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
}

void main(selected(process.argv.slice(2)));
