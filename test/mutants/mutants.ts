/**
 * The faults that `npm run test:mutants` plants, and what must find each. They stand in mutants.diff, by file:
 *
 *     === <file>
 *
 *     <what is wrong, as a sentence>
 *     @ engine <seed>, @ feed <seed> or @ adapter <seed>: the first random schedule that finds it
 *     @ <test file>: <a part of the title, with those of its suites>
 *     -<a line of the file>
 *     +<what replaces it>
 *      <a line that stays, where the others are not unique>
 *
 * Indentation does not count. A fault has a schedule, a test or both.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { SIMULATED } from '../world/simulated/scenarios';

const FILE = 'test/mutants/mutants.diff';

/** Seeds are counted from this one, and no fault is searched for in more schedules. */
export const FIRST_SEED = 1;
export const SCHEDULES = 100_000;

export type SimulationName = keyof typeof SIMULATED;

export interface Mutant {
  readonly fault: string;
  readonly file: string;
  /** Lines that the file has exactly once, and the lines with the fault. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The random schedules that find it: of the engine or of projections over the model of Redis, or behind the Redis adapter. */
  readonly simulation?: SimulationName;
  readonly seed?: number;
  /** The test that fails with it. */
  readonly test?: { readonly file: string; readonly title: string };
}

export const MUTANTS: readonly Mutant[] = readFileSync(FILE, 'utf8')
  .split(/^=== /m)
  .slice(1)
  .flatMap((part) => {
    const [file, ...entries] = part.trimEnd().split('\n\n');
    return entries.map((entry) => mutantOf(file!, entry.split('\n')));
  });

function mutantOf(file: string, [fault, ...lines]: readonly string[]): Mutant {
  const linesWith = (marks: string) =>
    lines.filter((line) => marks.includes(line[0]!)).map((line) => line.slice(1));
  const [schedule, test] = [/^@ (engine|feed|adapter) (\d+)$/, /^@ (test\/\S+): (.*)$/].map((form) =>
    lines.map((line) => form.exec(line)).find((found) => found !== null),
  );
  return {
    ...{ fault: fault!, file, before: linesWith('- '), after: linesWith('+ ') },
    ...(schedule && { simulation: schedule[1] as SimulationName, seed: Number(schedule[2]) }),
    ...(test && { test: { file: test[1]!, title: test[2]! } }),
  };
}

/** The text of its file with the fault. Throws if the file does not have the lines to replace exactly once. */
export function mutated(text: string, { file, before, after }: Mutant): string {
  const lines = text.split('\n');
  const places = lines.flatMap((_, at) =>
    before.every((line, i) => lines[at + i]?.trim() === line.trim()) ? [at] : [],
  );
  if (places.length !== 1) throw new Error(`${file} does not have exactly once:\n${before.join('\n')}`);
  return lines.toSpliced(places[0]!, before.length, ...after).join('\n');
}

/** The seeds of the schedules that find faults. */
export function seedsOf(simulation: SimulationName): readonly number[] {
  return MUTANTS.flatMap((mutant) => (mutant.simulation === simulation ? [mutant.seed!] : []));
}

/** Writes the seed of the first schedule that finds the fault. */
export function recordSeed({ fault, simulation }: Mutant, seed: number): void {
  const text = readFileSync(FILE, 'utf8');
  const [start, end] = text.split(`\n${fault}\n`);
  const recorded = end!.replace(/^@ \w+ \d+$/m, `@ ${simulation} ${seed}`);
  writeFileSync(FILE, `${start}\n${fault}\n${recorded}`);
}
