import { setTimeout as pause } from 'node:timers/promises';
import type { RedisProgram } from '../topology/redis-program';
import { STORE_TIMEOUT_MS, type ServiceInstance } from '../topology/service-instance';
import type { Topology } from '../topology/topology';
import { type Fault, type Faults, cli, takeover } from './faults';

/** Nothing is awaited for longer. */
const GIVES_UP_MS = 30_000;

const LIMITS = { storeTimeoutMs: STORE_TIMEOUT_MS, withinMs: GIVES_UP_MS };

interface WayToLose {
  begin(sentinel: RedisProgram, topology: Topology): unknown;
  end(sentinel: RedisProgram, topology: Topology): unknown;
}

const WAYS: Readonly<Record<string, WayToLose>> = {
  frozen: { begin: (sentinel) => sentinel.freeze(), end: (sentinel) => sentinel.thaw() },
  killed: { begin: (sentinel) => sentinel.kill(), end: (sentinel) => sentinel.run() },
  // A connect is never answered.
  unreachable: {
    begin: (sentinel, { network }) => sentinel.isolate(network!),
    end: (sentinel, { network }) => sentinel.rejoin(network!),
  },
};

/**
 * Each position of the lost Sentinels, with each way to lose them: before the primary is killed, or at the same time.
 *
 * @param positions in REDIS_SENTINELS, from 0; each entry is lost together.
 */
export function lostSentinels(
  positions: readonly (readonly number[])[],
  when: 'before' | 'together',
): Faults {
  const faults = positions.flatMap((lost) =>
    Object.entries(WAYS).map(([name, way]) => {
      const which = `Sentinel ${lost.map((position) => position + 1).join(' and ')}`;
      const title = when === 'before' ? `with ${which} ${name}` : `together with ${which} ${name}`;
      return [`kill the primary ${title}`, failoverWithout(lost, way, when)] as const;
    }),
  );
  return Object.fromEntries(faults);
}

/**
 * Kills the primary. Then measures, while the Sentinels are still lost: when another primary is promoted, when each
 * instance serves each user again (both from the kill), how long the command line takes, and how long the instances
 * take to end.
 */
function failoverWithout(lost: readonly number[], way: WayToLose, when: 'before' | 'together'): Fault {
  return async (rig, { lastsMs }) => {
    const { topology, instances } = rig;
    const [primary] = await topology.primaries();
    const epoch = await topology.epoch();
    const sentinels = lost.map((position) => topology.sentinels[position]!);
    const lose = () => Promise.all(sentinels.map((sentinel) => way.begin(sentinel, topology)));
    if (when === 'before') {
      await lose();
      await pause(lastsMs);
    }
    const killedAt = performance.now();
    const killed = primary!.kill();
    if (when === 'together') await lose();
    await killed;
    const served = rig.served();
    await takeover(topology, primary!, epoch);
    const promotedMs = performance.now() - killedAt;
    const servedMs = await timed(served, killedAt);
    const verifyMs = await timed(cli(topology, ['events', 'verify'], LIMITS));
    const endedMs = await Promise.all(instances.map(ended));
    for (const sentinel of sentinels) await way.end(sentinel, topology);
    await primary!.run();
    await Promise.all(instances.map((instance) => instance.run()));
    return {
      times: {
        promoted: promotedMs,
        served: servedMs,
        'events verify': verifyMs,
        ended: Math.max(...endedMs),
      },
    };
  };
}

async function ended(instance: ServiceInstance): Promise<number> {
  const ms = await timed(
    instance.end().then((code) => {
      if (code !== 0) throw new Error(`exit code ${code}`);
    }),
  );
  await instance.kill();
  return ms;
}

/** The time until it resolves, in ms; infinite if it rejects or gives up. */
async function timed(action: Promise<unknown>, since = performance.now()): Promise<number> {
  const completed = action.then(
    () => true,
    () => false,
  );
  return (await Promise.race([completed, pause(GIVES_UP_MS, false, { ref: false })]))
    ? performance.now() - since
    : Infinity;
}
