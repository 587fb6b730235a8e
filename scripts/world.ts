/**
 * `npm run world`: runs scenarios of test/world, which break real processes and networks, and checks the promises of
 * the pages.
 *
 *     npm run world -- --list                                        the names of the scenarios
 *     npm run world -- --minutes 20                                  the scenarios that a test has, in turns
 *     npm run world -- --scenario 'chaos in a Cluster' --minutes 5   one scenario, or all whose names contain this
 *     npm run world -- --scenario partition --seed 7 --faults 3      the first three faults of this seed
 *     npm run world -- --scenario durability --faults 1 --write      writes what it finds into docs/reliability.md
 *
 * In fewer minutes than there are scenarios, the seed selects some. A seed repeats the faults, their places and
 * durations, but not the interleaving of the processes. Prints a line for
 * each fault, and exits with 1 if a promise was broken.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomFrom } from '../test/support/random';
import { resultOf, writeRuns } from '../test/world/results/results';
import { type DoneStep, type Report, runScenario, unavailable } from '../test/world/scenario';
import { SCENARIOS } from '../test/world/scenarios';
import { conditionsText } from './page-figures';

/** A longer run has no further kinds of faults, and a shorter one too few. */
const RUN_MS = { most: 5 * 60_000, least: 60_000 };
const EXCERPT = 1500;
const seconds = (ms: number) => (ms / 1000).toFixed(1);

function describeViolations(name: string, { seed, steps, violations, history }: Report): string {
  const file = join(tmpdir(), `plant-store-world-${seed}.json`);
  writeFileSync(file, JSON.stringify(history, undefined, 1));
  const schedule = steps.map(
    ({ fault, from, to, lastsMs, roll }) =>
      `  ${Math.round(from)}–${Math.round(to)} ms: ${fault} (${Math.round(lastsMs)} ms, ${roll.toFixed(3)})`,
  );
  const shown = violations.slice(0, 10).map((violation) => `- ${violation.slice(0, EXCERPT)}`);
  const title = `VIOLATED (seed ${seed}, ${name}), ${violations.length} times:`;
  return [title, ...shown, 'the faults:', ...schedule, `the whole history: ${file}`].join('\n');
}

function describeStep({ fault, repairedMs, servedMs, outages, times }: DoneStep): string {
  const outage = Math.max(...Object.values(outages));
  const measured = { ...times, outage, 'whole again': repairedMs, 'served once whole': servedMs };
  const texts = Object.entries(measured).map(([name, ms]) => `${name} ${seconds(ms)} s`);
  return `${fault}: ${texts.join(', ')}`;
}

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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      scenario: { type: 'string', default: 'all' },
      minutes: { type: 'string', default: '1' },
      faults: { type: 'string' },
      seed: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  if (values.list) {
    console.log(Object.keys(SCENARIOS).join('\n'));
    return;
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new RangeError(`--minutes must be a number above 0, not ${values.minutes}`);
  const wanted = Object.entries(SCENARIOS).filter(([name, { short }]) =>
    values.scenario === 'all' ? short > 0 : name.includes(values.scenario),
  );
  if (wanted.length === 0) throw new RangeError(`no scenario has ${values.scenario} in its name: see --list`);
  const first = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);

  const reasons = new Map(wanted.map(([name, scenario]) => [name, unavailable(scenario)]));
  const possible = shuffled(
    wanted.filter(([name]) => reasons.get(name) === undefined),
    randomFrom(first),
  );
  const skipped = wanted.length - possible.length;
  for (const [name, reason] of reasons) if (reason !== undefined) console.log(`skipped: ${name}: ${reason}`);

  const begin = performance.now();
  const end = begin + minutes * 60_000;
  const share = Math.min(RUN_MS.most, Math.max(RUN_MS.least, (end - begin) / possible.length));
  // Keeps the process alive, because the servers alone do not.
  const awake = setInterval(() => {}, 1000);
  const reports = new Map<string, Report[]>(possible.map(([name]) => [name, []]));
  let failed = process.env.CI ? skipped : 0;
  let passed = 0;
  const runs = () => (values.faults ? possible.length : performance.now() < end ? Infinity : 0);
  for (let count = 0; possible.length > 0 && count < Math.max(1, runs()); count++) {
    const seed = first + Math.floor(count / possible.length);
    const [name, scenario] = possible[count % possible.length]!;
    const endsAt = Math.min(end, performance.now() + share);
    const report = await runScenario(scenario, {
      seed,
      continues: (steps) => (values.faults ? steps < Number(values.faults) : performance.now() < endsAt),
      progress: (steps, next) => {
        const done = steps.slice(-1).map((step) => `${describeStep(step)}; `);
        console.log(
          `${seconds(performance.now() - begin)} s: seed ${seed}, ${name}: ${done.join('')}next: ${next}`,
        );
      },
    });
    reports.get(name)!.push(report);
    console.log(
      `${report.steps.slice(-1).map(describeStep).join()}\n${report.requests} requests, ` +
        `${report.acknowledged} acknowledged writes, ${report.lost} lost, ${report.noticed} of them noticed, ` +
        `${report.staleLists} stale lists`,
    );
    if (report.violations.length === 0) passed += 1;
    else {
      failed += 1;
      console.log(describeViolations(name, report));
    }
    if (values.write) writeRuns({ [name]: resultOf(reports.get(name)!, conditionsText(redisVersion())) });
  }
  clearInterval(awake);
  if (values.write) execFileSync('node_modules/.bin/ts-node', ['scripts/docs.ts'], { stdio: 'inherit' });
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
