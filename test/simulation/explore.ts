import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Schedule, scheduleOf } from './schedule';
import { shrink } from './shrink';
import { type SimulationOptions, simulate } from './simulation';
import { findViolations } from './violations';

/** The violations of a schedule, and what happened in it, line by line. */
export interface Replay {
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}

export interface ExploreOptions extends SimulationOptions {
  /** The schedule of a seed; that of instances that call the model of Redis by default. */
  readonly schedules?: (seed: number) => Schedule;
}

export async function replaySchedule(schedule: Schedule, options: SimulationOptions = {}): Promise<Replay> {
  const trace: string[] = [];
  const violations = await violationsOf(schedule, { ...options, trace: (line) => void trace.push(line) });
  return { violations, trace };
}

/** Simulates the schedules of `count` seeds from `first` on. Resolves with the first seed that has a violation. */
export async function findFailingSeed(
  first: number,
  count: number,
  { schedules = scheduleOf, ...options }: ExploreOptions = {},
): Promise<number | undefined> {
  for (let seed = first; seed < first + count; seed++)
    if (await hasViolation(schedules(seed), options)) return seed;
  return undefined;
}

/** Describes the violation of a seed by a schedule that is as simple as possible. */
export async function describeFailure(
  seed: number,
  { schedules = scheduleOf, ...options }: ExploreOptions = {},
): Promise<string> {
  const schedule = await shrink(schedules(seed), (simpler) => hasViolation(simpler, options));
  const { violations, trace } = await replaySchedule(schedule, options);
  const { moves, ...settings } = schedule;
  return [
    `seed ${seed} violates: ${violations.join('; ')}`,
    'The simplest schedule that does, for npm run simulate -- --schedule <file>:',
    `{ "settings": ${JSON.stringify(settings)},`,
    `  "moves": [`,
    moves.map((move) => `    ${JSON.stringify(move)}`).join(',\n'),
    '  ] }',
    'What happens:',
    ...trace.map((line) => `  ${line}`),
  ].join('\n');
}

async function hasViolation(schedule: Schedule, options: SimulationOptions): Promise<boolean> {
  return (await violationsOf(schedule, options)).length > 0;
}

/** The violations of a schedule; a simulation that throws, and an unhandled rejection, are some. */
async function violationsOf(schedule: Schedule, options: SimulationOptions): Promise<readonly string[]> {
  const faults: string[] = [];
  const unhandled = (error: unknown) => void faults.push(`unhandled rejection: ${String(error)}`);
  process.on('unhandledRejection', unhandled);
  try {
    const result = await simulate(schedule, options);
    // Node reports an unhandled rejection between two turns of the event loop.
    await nextTurn();
    return [...findViolations(result), ...faults];
  } catch (error) {
    return [`the simulation failed: ${String(error)}`, ...faults];
  } finally {
    process.off('unhandledRejection', unhandled);
  }
}
