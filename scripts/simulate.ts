/**
 * `npm run simulate`: simulates random schedules of the engine until one violates a guarantee (test/simulation).
 *
 *     npm run simulate -- --minutes 60            schedules of fresh seeds, with a line of progress every ten seconds
 *     npm run simulate -- --minutes 60 --seed 7   the same, from this seed on
 *     npm run simulate -- --schedules 1000 …      the same, up to this number of schedules
 *     npm run simulate -- --seed 7                the schedule of this seed, and what happens in it
 *     npm run simulate -- --adapter redis …       one of these with the Redis adapter, over a simulated Redis
 *     npm run simulate -- --schedule <file>       the schedule in a file, as a failure prints it
 *
 * Exits with 1 if a guarantee was violated.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeFailure, findFailingSeed, replaySchedule } from '../test/simulation/explore';
import { type Schedule, adapterScheduleOf, scheduleOf } from '../test/simulation/schedule';

const PROGRESS_MS = 10_000;
/** Schedules between two looks at the time. */
const BATCH = 200;

type Schedules = (seed: number) => Schedule;

interface Limits {
  readonly minutes: number;
  /** Number of schedules. */
  readonly count: number;
}

async function explore(first: number, { minutes, count }: Limits, schedules: Schedules): Promise<boolean> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  let nextProgress = start + PROGRESS_MS;
  let seed = first;
  const kind = schedules === adapterScheduleOf ? 'adapter schedules' : 'schedules';
  const progress = () => {
    const seconds = (performance.now() - start) / 1000;
    const perMinute = Math.round(((seed - first) / process.cpuUsage(cpu).user) * 6e7);
    console.log(
      `${Math.round(seconds)} s: seeds ${first} to ${seed - 1}, ${perMinute} ${kind} per minute of processor time`,
    );
  };
  while (seed < first + count && performance.now() < start + minutes * 60_000) {
    const batch = Math.min(BATCH, first + count - seed);
    const failing = await findFailingSeed(seed, batch, { schedules });
    seed += batch;
    if (failing !== undefined) {
      console.log(`seed ${failing} violates a guarantee`);
      console.log(await describeFailure(failing, { schedules }));
      return false;
    }
    if (performance.now() < nextProgress) continue;
    nextProgress += PROGRESS_MS;
    progress();
  }
  progress();
  return true;
}

async function replay(schedule: Schedule): Promise<boolean> {
  const { violations, trace } = await replaySchedule(schedule);
  for (const line of trace) console.log(line);
  console.log(violations.length === 0 ? 'no violation' : `violated: ${violations.join('; ')}`);
  return violations.length === 0;
}

function readSchedule(file: string): Schedule {
  const { settings, moves } = JSON.parse(readFileSync(file, 'utf8')) as {
    settings: Omit<Schedule, 'moves'>;
    moves: Schedule['moves'];
  };
  return { ...settings, moves };
}

/** The number of an option. Throws if it is not one. */
function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!(number >= 0)) throw new RangeError(`--${name} must be a number of 0 or more, not ${text}`);
  return number;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      ...{ minutes: { type: 'string' }, schedules: { type: 'string' } },
      ...{ seed: { type: 'string' }, schedule: { type: 'string' }, adapter: { type: 'string' } },
    },
  });
  if (values.schedule !== undefined) return replay(readSchedule(values.schedule));
  if (values.adapter !== undefined && values.adapter !== 'redis')
    throw new RangeError(`--adapter must be redis, not ${values.adapter}`);
  const schedules = values.adapter === 'redis' ? adapterScheduleOf : scheduleOf;
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : numberOf('seed', values.seed);
  if ((values.minutes ?? values.schedules) === undefined && values.seed !== undefined)
    return replay(schedules(seed));
  // Faults are frequent, and their stacks are not shown.
  Error.stackTraceLimit = 0;
  const count = values.schedules === undefined ? Infinity : numberOf('schedules', values.schedules);
  const minutes = values.minutes ?? (values.schedules === undefined ? '1' : 'Infinity');
  return explore(seed, { count, minutes: numberOf('minutes', minutes) }, schedules);
}

void main().then(
  (ok) => (process.exitCode = ok ? 0 : 1),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
