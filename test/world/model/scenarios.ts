/** Random requests, compared with a model of the specification. A step is a sequence of up to 60 of them. */
import type { ScenarioOutcome, RunOptions, Scenario } from '../scenario';
import { oneRedis } from '../topology/one-redis';
import { ServiceInstance } from '../topology/service-instance';
import { stop } from '../topology/topology';
import { ENVIRONMENT, KINDS, compareWithModel } from './compare-with-model';

const INSTANCES = 2;
/** So many steps meet all kinds of responses. */
const MEETS_ALL = 10;

export const RANDOM_REQUESTS: Readonly<Record<string, Scenario>> = {
  'random requests to two instances': { short: MEETS_ALL, unavailable: () => undefined, run: play },
};

/** The instances receive the requests in turn. A restart kills one of them, after the other. */
async function play({ seed, continues, progress }: RunOptions): Promise<ScenarioOutcome> {
  const topology = await oneRedis().start(() => 0);
  const environment = { ...topology.environment, ...ENVIRONMENT };
  const instances = await Promise.all(
    Array.from({ length: INSTANCES }, () => ServiceInstance.start(environment, [])),
  );
  let restarts = 0;
  const restart = async () => {
    const instance = instances[restarts++ % INSTANCES]!;
    await instance.kill();
    await instance.run();
  };
  const subject = { urls: instances.map(({ url }) => url), restart, forgets: false };
  const met = new Set<string>();
  const violations: string[] = [];
  let steps = 0;
  try {
    do {
      for (const kind of await compareWithModel(subject, seed + steps, 1)) met.add(kind);
      progress?.(`${++steps} sequences of requests`);
    } while (continues(steps));
    if (steps >= MEETS_ALL)
      violations.push(...KINDS.filter((kind) => !met.has(kind)).map((kind) => `no response was ${kind}`));
  } catch (error) {
    violations.push(String(error));
  }
  await Promise.all(instances.map((instance) => instance.stop()));
  await stop(topology);
  return { violations, summary: `${steps} sequences of requests, ${restarts} restarts` };
}
