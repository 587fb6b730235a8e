/**
 * `npm run test:mutants`: plants each fault of test/mutants/mutants.diff into a copy of this tree, one at a time. Its
 * test must fail with it, and its random schedule must violate a guarantee, or one of 4,000. First, all of these tests
 * must pass in an unchanged copy. With an argument, only the faults whose description, file or test contains it; with
 * `--part 1/3` only the first, fourth, seventh … of them.
 *
 * With `--record`, each schedule is searched for from the first seed on, in up to 100,000, and its seed is written into
 * the file. Tests do not run then.
 *
 * Exits with 1 if a mutant is alive: its test passes, or no schedule finds it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FIRST_SEED, MUTANTS, type Mutant, SCHEDULES, mutated, recordSeed } from '../test/mutants/mutants';
import { inPart } from '../test/support/part';
import { SIMULATED } from '../test/world/simulated/scenarios';

const NOT_COPIED = ['.git', 'node_modules', 'dist', 'coverage'];
/** Some mutants let a test wait in vain. */
const TEST_TIMEOUT_MS = 20_000;
/** With some mutants a schedule does not end. Progress is printed every ten seconds. */
const SILENCE_MS = 300_000;
/** A fault that the schedule of its row no longer finds is searched for in so many: any change may move it. */
const UNRECORDED = 4000;
const VIOLATING_SEED = /: seed (\d+) violates a guarantee/;

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'plant-store-mutants-'));
  cpSync('.', copy, { recursive: true, filter: (source) => !NOT_COPIED.includes(basename(source)) });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs the tests of these mutants in the tree at `directory`, up to the first failure. */
async function runTests(directory: string, mutants: readonly Mutant[]) {
  const tests = mutants.flatMap(({ test }) => test ?? []);
  if (tests.length === 0) return { passed: 0, failed: 0, output: '' };
  const files = new Set(tests.map(({ file }) => file));
  const titles = tests.map(({ title }) => title.replaceAll(/[^\w\s]/g, '\\$&'));
  const options = ['--exit', '--bail', '--timeout', String(TEST_TIMEOUT_MS), '--grep', titles.join('|')];
  const mocha = spawn('node_modules/.bin/mocha', [...options, ...files], { cwd: directory, stdio: 'pipe' });
  let output = '';
  for (const stream of [mocha.stdout, mocha.stderr]) stream.on('data', (text) => (output += String(text)));
  await once(mocha, 'close');
  const [, passed, failed] = /^(\d+) passed, (\d+) failed/m.exec(output) ?? [];
  if (passed === undefined) throw new Error(`mocha did not come to its end:\n${output}`);
  return { passed: Number(passed), failed: Number(failed), output };
}

/** The first of these seeds whose schedule violates a guarantee in the tree at `directory`. */
async function failingSeed(
  directory: string,
  { simulation, fault }: Mutant,
  first: number,
  count: number,
): Promise<number | undefined> {
  const scenario = ['--scenario', SIMULATED[simulation!]];
  const seeds = ['--seed', String(first), '--count', String(count)];
  const simulate = spawn('node_modules/.bin/ts-node', ['scripts/world.ts', ...scenario, ...seeds], {
    cwd: directory,
    stdio: 'pipe',
  });
  let output = '';
  let silence: NodeJS.Timeout | undefined;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => simulate.kill('SIGKILL'), SILENCE_MS);
  };
  heard();
  for (const stream of [simulate.stdout, simulate.stderr])
    stream.on('data', (text) => {
      heard();
      output += String(text);
      // What follows is only a simpler schedule.
      if (VIOLATING_SEED.test(output)) simulate.kill('SIGKILL');
    });
  const [code] = (await once(simulate, 'close')) as [number | null];
  clearTimeout(silence);
  const [, seed] = VIOLATING_SEED.exec(output) ?? [];
  if (seed !== undefined) return Number(seed);
  if (code !== 0) throw new Error(`the simulation of "${fault}" did not come to its end:\n${output}`);
  return undefined;
}

/** Why the mutant is alive in the tree at `directory`, which is restored afterwards; `undefined` if it is not. */
async function survival(directory: string, mutant: Mutant, record: boolean): Promise<string | undefined> {
  const file = join(directory, mutant.file);
  const code = readFileSync(file, 'utf8');
  writeFileSync(file, mutated(code, mutant));
  try {
    if (mutant.simulation) {
      const count = record ? SCHEDULES : UNRECORDED;
      const ofTheFile = record ? undefined : await failingSeed(directory, mutant, mutant.seed!, 1);
      const seed = ofTheFile ?? (await failingSeed(directory, mutant, FIRST_SEED, count));
      if (seed === undefined) return `not found in ${count} schedules`;
      if (record) recordSeed(mutant, seed);
    }
    if (mutant.test === undefined || record) return undefined;
    const { passed, failed } = await runTests(directory, [mutant]);
    if (passed + failed === 0) throw new Error(`${mutant.test.file} has no test "${mutant.test.title}"`);
    return failed > 0 ? undefined : `${mutant.test.file}: ${mutant.test.title}`;
  } finally {
    writeFileSync(file, code);
  }
}

interface MutantSelection {
  readonly mutants: readonly Mutant[];
  /** Whether the seeds are searched for and written. */
  readonly record: boolean;
}

/** What the arguments select. */
function selected(args: readonly string[]): MutantSelection {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { part: { type: 'string', default: '1/1' }, record: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const isIncluded = inPart(values.part);
  const [wanted = ''] = positionals;
  const mutants = MUTANTS.filter(({ fault, file, test }) =>
    [fault, file, test?.file].join('\n').includes(wanted),
  ).filter((_, index) => isIncluded(index));
  return { mutants, record: values.record };
}

async function main({ mutants, record }: MutantSelection): Promise<void> {
  // Schedules are counted in the time of one processor.
  const copies = Array.from({ length: record ? 1 : availableParallelism() }, copyTree);
  try {
    const unchanged = await runTests(copies[0]!, record ? [] : mutants);
    if (unchanged.failed > 0) throw new Error(`a test fails without a fault:\n${unchanged.output}`);

    const waiting = record ? mutants.filter(({ simulation }) => simulation) : [...mutants];
    let killed = 0;
    let alive = 0;
    const killNext = async (directory: string) => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const why = await survival(directory, next, record);
        if (why === undefined) killed++;
        else {
          alive++;
          console.log(`ALIVE: ${next.fault} (${next.file}; ${why})`);
        }
      }
    };
    await Promise.all(copies.map(killNext));
    console.log(`${killed} passed, ${alive} failed`);
    if (alive > 0) process.exitCode = 1;
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
}

void main(selected(process.argv.slice(2)));
