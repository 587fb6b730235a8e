/** The simulators as scenarios: the topology is a model of Redis, the clock is false, and a schedule is a step. */
import type { ScenarioOutcome, RunOptions, Scenario } from '../scenario';
import { writeSimulation } from '../results/results';
import { describeFailure, findFailingSeed, replaySchedule } from './explore';
import { type Schedule, adapterScheduleOf, scheduleOf } from './schedule';

const PROGRESS_MS = 10_000;

/** The names of the scenarios. */
export const SIMULATED = {
  engine: 'the engine, simulated',
  adapter: 'the Redis adapter, simulated',
} as const;

/** By the name of the scenario: the schedule of a seed. */
const SCHEDULES: Readonly<Record<string, (seed: number) => Schedule>> = {
  [SIMULATED.engine]: scheduleOf,
  [SIMULATED.adapter]: adapterScheduleOf,
};

export const SIMULATIONS: Readonly<Record<string, Scenario>> = Object.fromEntries(
  Object.entries(SCHEDULES).map(([name, schedules]) => [
    name,
    { short: 0, takesAll: true, unavailable: () => undefined, run: (options) => explore(schedules, options) },
  ]),
);

/** What happens in the schedule of a seed of this scenario, line by line; `undefined` if it has no schedules. */
export async function traceOf(name: string, seed: number): Promise<readonly string[] | undefined> {
  const schedules = SCHEDULES[name];
  return schedules && (await replaySchedule(schedules(seed))).trace;
}

/** Simulates the schedules of one seed after the other until one violates a guarantee. */
async function explore(
  schedules: (seed: number) => Schedule,
  { seed: first, continues, progress }: RunOptions,
): Promise<ScenarioOutcome> {
  // Faults are frequent, and their stacks are not shown.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const cpu = process.cpuUsage();
  let nextProgress = performance.now() + PROGRESS_MS;
  let count = 0;
  let failing: number | undefined;
  const summary = () => {
    const perMinute = Math.round((count / process.cpuUsage(cpu).user) * 6e7);
    return `seeds ${first} to ${first + count - 1}, ${perMinute} schedules per minute of processor time`;
  };
  do {
    failing = await findFailingSeed(first + count, 1, { schedules });
    count++;
    if (performance.now() >= nextProgress) {
      nextProgress += PROGRESS_MS;
      progress?.(summary());
    }
  } while (failing === undefined && continues(count));
  if (failing !== undefined) progress?.(`seed ${failing} violates a guarantee`);
  const explanation = failing === undefined ? undefined : await describeFailure(failing, { schedules });
  Error.stackTraceLimit = stackTraceLimit;
  return {
    violations: explanation === undefined ? [] : [explanation.split('\n')[0]!],
    summary: summary(),
    ...(explanation !== undefined && { explanation }),
    write: (simulation) =>
      writeSimulation({
        simulation,
        date: new Date().toISOString().slice(0, 10),
        seeds: `${first} to ${first + count - 1}`,
        schedules: count,
        violations: failing === undefined ? 0 : 1,
      }),
  };
}
