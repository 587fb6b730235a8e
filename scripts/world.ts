/**
 * `npm run world`: runs scenarios of test/world, the harness for all long runs of random work, and checks the promises
 * of the pages.
 *
 *     npm run world -- --list                                        the names of the scenarios
 *     npm run world -- --minutes 20                                  the scenarios that a test has, in turns
 *     npm run world -- --scenario 'chaos in a Cluster' --minutes 5   one scenario, or all whose names contain this
 *     npm run world -- --scenario partition --seed 7 --count 3       the first three faults of this seed
 *     npm run world -- --scenario durability --count 1 --write       writes what it finds into docs/reliability.md
 *     npm run world -- --scenario simulated --minutes 60             schedules of fresh seeds, in both simulators
 *     npm run world -- --scenario engine --seed 7 --trace            the schedule of this seed, and what happens in it
 *     npm run world -- --schedule <file>                             a schedule, as a failure prints it
 *     npm run world -- --scenario soak --minutes 30 --write          writes its figures into docs/scaling.md
 *
 * `--count` limits the steps of each run: its faults, its schedules, its sequences of requests. In fewer minutes than
 * there are scenarios, the seed selects some. A seed repeats a schedule exactly. With real processes it repeats the
 * faults, their places and durations, but not the interleaving. Exits with 1 if a promise was broken.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { randomFrom } from '../test/support/random';
import type { ScenarioOutcome, Scenario } from '../test/world/scenario';
import { SCENARIOS } from '../test/world/scenarios';
import { replaySchedule } from '../test/world/simulated/explore';
import type { Schedule } from '../test/world/simulated/schedule';
import { traceOf } from '../test/world/simulated/scenarios';
import { conditionsText } from './page-figures';

/** A longer run has no further kinds of faults, and a shorter one too few. */
const RUN_MS = { most: 5 * 60_000, least: 60_000 };
const seconds = (ms: number) => (ms / 1000).toFixed(1);

function redisVersion(): string {
  const text = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
  return `Redis ${/v=(\S+)/.exec(text)?.[1] ?? 'of an unknown version'}`;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** The number of an option. Throws if it is not one. */
function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!(number >= 0)) throw new RangeError(`--${name} must be a number of 0 or more, not ${text}`);
  return number;
}

async function replay(file: string): Promise<number> {
  const { settings, moves } = JSON.parse(readFileSync(file, 'utf8')) as {
    settings: Omit<Schedule, 'moves'>;
    moves: Schedule['moves'];
  };
  const { violations, trace } = await replaySchedule({ ...settings, moves });
  console.log(trace.join('\n'));
  console.log(violations.length === 0 ? 'no violation' : `violated: ${violations.join('; ')}`);
  return violations.length;
}

interface Limits {
  readonly firstSeed: number;
  readonly minutes: number;
  /** Of steps. */
  readonly count: number | undefined;
  /** Whether the pages get what is found. */
  readonly write: boolean;
}

/** Runs scenarios in turns. Returns how many runs broke no promise, and how many did. */
async function runAll(
  scenarios: readonly (readonly [string, Scenario])[],
  { firstSeed, minutes, count, write }: Limits,
): Promise<readonly [passed: number, failed: number]> {
  const begin = performance.now();
  const end = begin + minutes * 60_000;
  const share = (end - begin) / scenarios.length;
  const bounded = Math.min(RUN_MS.most, Math.max(RUN_MS.least, share));
  const outcomes = new Map<string, ScenarioOutcome[]>(scenarios.map(([name]) => [name, []]));
  let [passed, failed] = [0, 0];
  const continues = (run: number) =>
    run === 0 || (count === undefined ? performance.now() < end : run < scenarios.length);
  for (let run = 0; continues(run); run++) {
    const seed = firstSeed + Math.floor(run / scenarios.length);
    const [name, scenario] = scenarios[run % scenarios.length]!;
    const endsAt = Math.min(end, performance.now() + (scenario.takesAll ? share : bounded));
    const outcome = await scenario.run({
      seed,
      minutes: (endsAt - performance.now()) / 60_000,
      continues: (steps) => (count === undefined ? performance.now() < endsAt : steps < count),
      progress: (line) =>
        console.log(`${seconds(performance.now() - begin)} s: seed ${seed}, ${name}: ${line}`),
    });
    console.log(outcome.summary);
    if (outcome.violations.length === 0) passed += 1;
    else {
      failed += 1;
      console.log(`VIOLATED (seed ${seed}, ${name}), ${outcome.violations.length} times:`);
      console.log(outcome.explanation ?? outcome.violations.join('\n'));
    }
    if (write) outcome.write?.(name, outcomes.get(name)!, conditionsText(redisVersion()));
    outcomes.get(name)!.push(outcome);
  }
  return [passed, failed];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      scenario: { type: 'string', default: 'all' },
      schedule: { type: 'string' },
      minutes: { type: 'string', default: '1' },
      count: { type: 'string' },
      seed: { type: 'string' },
      trace: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  if (values.list) {
    console.log(Object.keys(SCENARIOS).join('\n'));
    return 0;
  }
  if (values.schedule !== undefined) return replay(values.schedule);
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new RangeError(`--minutes must be a number above 0, not ${values.minutes}`);
  const count = values.count === undefined ? undefined : numberOf('count', values.count);
  const wanted = Object.entries(SCENARIOS).filter(([name, { short }]) =>
    values.scenario === 'all' ? short > 0 : name.includes(values.scenario),
  );
  if (wanted.length === 0) throw new RangeError(`no scenario has ${values.scenario} in its name: see --list`);
  const firstSeed = values.seed === undefined ? Date.now() % 2 ** 31 : numberOf('seed', values.seed);

  if (values.trace) {
    // One after the other: a simulation replaces the timers of the process.
    for (const [name] of wanted) {
      const trace = await traceOf(name, firstSeed);
      if (trace === undefined) throw new RangeError(`${name} has no schedule to trace`);
      console.log(trace.join('\n'));
    }
    return 0;
  }

  const reasons = new Map(wanted.map(([name, scenario]) => [name, scenario.unavailable()]));
  for (const [name, reason] of reasons) if (reason !== undefined) console.log(`skipped: ${name}: ${reason}`);
  const possible = shuffled(
    wanted.filter(([name]) => reasons.get(name) === undefined),
    randomFrom(firstSeed),
  );
  const skipped = wanted.length - possible.length;
  // Keeps the process alive, because the servers alone do not.
  const awake = setInterval(() => {}, 1000);
  const [passed, failed] =
    possible.length === 0
      ? [0, 0]
      : await runAll(possible, { firstSeed, minutes, count, write: values.write });
  clearInterval(awake);
  if (values.write) execFileSync('node_modules/.bin/ts-node', ['scripts/docs.ts'], { stdio: 'inherit' });
  const broken = failed + (process.env.CI ? skipped : 0);
  console.log(`${passed} passed, ${broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return broken;
}

main().then(
  (broken) => (process.exitCode = broken === 0 ? 0 : 1),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
