import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { compiled } from '../../support/compiled';
import { patient } from '../../support/patience';
import { until } from '../../support/until';
import type { StreamEntry } from '../../support/stored-events';
import type { RedisProgram } from '../topology/redis-program';
import { STORE_TIMEOUT_MS, type ServiceInstance } from '../topology/service-instance';
import { SERVICE_USER, type Topology, entriesOf } from '../topology/topology';
import { keyOf } from '../../support/keys';

/** What faults act on. */
export interface Rig {
  readonly topology: Topology;
  readonly instances: readonly ServiceInstance[];
  readonly users: readonly string[];
  /** The entries that were moved from a stream to an archive, by its key. */
  readonly archived: Map<string, StreamEntry[]>;
  /** Resolves once each of these instances has acknowledged a creation and a deletion of each user. */
  served(instances?: readonly ServiceInstance[]): Promise<void>;
}

/** Selects the servers of a fault, and its duration, both determined by the seed. */
export interface FaultChoice {
  readonly lastsMs: number;
  /** From 0 to below 1. */
  readonly roll: number;
}

/** What a fault may cost, apart from failovers. */
export interface FaultEffect {
  /** Writes acknowledged after this time, before the end of the fault, may be lost. */
  readonly losesSince?: number;
  /** Whether a backup was restored, and the instances were restarted for it: then no instance notices a loss. */
  readonly restored?: boolean;
  /** The number of failovers that lose nothing. */
  readonly plannedFailovers?: number;
  /** What was wrong meanwhile. */
  readonly violation?: string;
  /** Measured times in ms, by name; infinite if it did not happen. */
  readonly times?: Readonly<Record<string, number>>;
}

export type Fault = (rig: Rig, choice: FaultChoice) => Promise<FaultEffect | undefined>;

/** By name. */
export type Faults = Readonly<Record<string, Fault>>;

/** A failover takes about five seconds; on a busy machine, more. */
const TAKES_OVER_WITHIN_MS = 120_000;
const FULL_DISK_MS = 20_000;
const CLI_WITHIN_MS = 120_000;
/** The service examines its Redis every ten seconds. */
const NOTICED_WITHIN_MS = 12_000;
/** The delay of bytes in each direction. */
const DELAY_MS = 60;
const LOST_REPLIES = 5;

function picked<T>(items: readonly T[], { roll }: FaultChoice): T {
  return items[Math.floor(roll * items.length)]!;
}

/** A fault of a process that lasts for a time. */
function lasting<T>(
  pick: (rig: Rig, choice: FaultChoice) => Promise<T> | T,
  begin: (target: T) => unknown,
  end: (target: T) => unknown,
): Fault {
  return async (rig, choice) => {
    const target = await pick(rig, choice);
    await begin(target);
    await pause(choice.lastsMs);
    await end(target);
    return undefined;
  };
}

const kill = (program: RedisProgram | ServiceInstance) => program.kill();
const run = (program: RedisProgram | ServiceInstance) => program.run();
const freeze = (program: RedisProgram) => program.freeze();
const thaw = (program: RedisProgram) => program.thaw();
const heal = (program: RedisProgram) => program.proxy.heal();

const anInstance = ({ instances }: Rig, choice: FaultChoice) => picked(instances, choice);
const aSentinel = ({ topology }: Rig, choice: FaultChoice) => picked(topology.sentinels, choice);
const aPrimary = async ({ topology }: Rig, choice: FaultChoice) => picked(await topology.primaries(), choice);
const replicasOf = async ({ topology }: Rig) => {
  const primaries = await topology.primaries();
  return topology.nodes.filter((node) => !primaries.includes(node));
};
const aReplica = async (rig: Rig, choice: FaultChoice) => picked(await replicasOf(rig), choice);

/** Resolves once another primary has replaced this one, and all know it. */
export async function takeover(topology: Topology, primary: RedisProgram, epoch: number): Promise<void> {
  const tookOver = async () => {
    const primaries = await topology.primaries().catch(() => [primary]);
    return !primaries.includes(primary) && (await topology.epoch().catch(() => epoch)) > epoch;
  };
  await until(tookOver, TAKES_OVER_WITHIN_MS);
}

/** Ends the primary in some way until a replica has taken over. */
function untilAnotherTakesOver(
  begin: (primary: RedisProgram) => unknown,
  end: (primary: RedisProgram) => unknown,
): Fault {
  return async (rig, choice) => {
    const primary = await aPrimary(rig, choice);
    const epoch = await rig.topology.epoch();
    await begin(primary);
    await takeover(rig.topology, primary, epoch);
    await pause(choice.lastsMs);
    await end(primary);
    return undefined;
  };
}

/** Its replicas are frozen and disconnected before it is killed, so they do not have its last writes. */
const killWithoutReplicas: Fault = async (rig, choice) => {
  const replicas = await replicasOf(rig);
  return untilAnotherTakesOver(async (primary) => {
    replicas.forEach(freeze);
    await primary.call('CLIENT', 'KILL', 'TYPE', 'replica');
    await pause(STORE_TIMEOUT_MS + choice.lastsMs);
    await primary.kill();
    replicas.forEach(thaw);
  }, run)(rig, choice);
};

/** As docs/runbooks/full-disk.md describes: Redis ends, and starts again once there is room. */
function fullDisk(pick: (rig: Rig, choice: FaultChoice) => Promise<RedisProgram>): Fault {
  return async (rig, choice) => {
    const node = await pick(rig, choice);
    node.fillDisk();
    // It ends at its next write. A shard of a Cluster has none after the slots of all its users were moved.
    await until(() => !node.running, FULL_DISK_MS).catch(() => {});
    await pause(choice.lastsMs);
    node.freeDisk();
    if (!node.running) await node.run();
    return undefined;
  };
}

/** A setting that the service examines: each instance must report it, and its end. */
function setting(name: string, value: string, finding: string): Fault {
  return async (rig, choice) => {
    const primary = await aPrimary(rig, choice);
    const [, before] = (await primary.call('CONFIG', 'GET', name)) as [string, string];
    /** Whether all instances have the finding, or none has it, in time. */
    const isReported = (present: boolean) =>
      until(
        async () =>
          (await Promise.all(rig.instances.map((instance) => instance.hasFinding(finding)))).every(
            (found) => found === present,
          ),
        patient(NOTICED_WITHIN_MS),
      ).then(
        () => true,
        () => false,
      );
    await primary.call('CONFIG', 'SET', name, value);
    const begun = await isReported(true);
    await pause(choice.lastsMs);
    await primary.call('CONFIG', 'SET', name, before);
    const ended = await isReported(false);
    return begun && ended
      ? {}
      : { violation: `not every instance reported ${begun ? 'the end of ' : ''}the finding ${finding}` };
  };
}

/** As docs/runbooks/restore.md describes, with the instances locked out, and restarted because the store is a new one. */
const restore: Fault = async ({ topology, instances }, { lastsMs }) => {
  const primary = (await topology.primaries())[0]!;
  const backup = join(primary.directory, 'backup.ndjson');
  const losesSince = performance.now();
  await cli(topology, ['events', 'export', '--output', backup]);
  await pause(lastsMs);
  for (const node of topology.nodes) {
    await node.call('ACL', 'SETUSER', SERVICE_USER, 'off');
    await node.call('CLIENT', 'KILL', 'USER', SERVICE_USER);
  }
  for (const each of await topology.primaries()) await each.call('FLUSHDB');
  await cli(topology, ['events', 'import', backup]);
  await cli(topology, ['events', 'verify']);
  for (const node of topology.nodes) await node.call('ACL', 'SETUSER', SERVICE_USER, 'on');
  rmSync(backup);
  for (const instance of instances) {
    await instance.end();
    await instance.run();
  }
  return { losesSince, restored: true };
};

/** As docs/operations.md describes, while clients go on. The check of the history gets the entries from the test. */
const archive: Fault = async ({ topology, users, archived }, choice) => {
  const user = picked(users, choice);
  const key = keyOf(user);
  const entries = await entriesOf(topology, key);
  const [last] = entries[Math.floor(entries.length / 2)]!;
  const until = last.slice(0, last.indexOf('-'));
  const output = join((await topology.primaries())[0]!.directory, `${user}-${until}.ndjson`);
  await cli(topology, ['events', 'archive', '--user', user, '--until', until, '--output', output]);
  const [remaining] = await entriesOf(topology, key);
  const moved = entries.slice(
    0,
    entries.findIndex(([id]) => id === remaining![0]),
  );
  archived.set(key, [...(archived.get(key) ?? []), ...moved]);
  return moved.length > 0 ? {} : { violation: `nothing of ${user} was archived` };
};

/** `plant-store` of an operator, who is not locked out. Rejects unless it ends with 0. */
export async function cli(
  topology: Topology,
  args: readonly string[],
  { storeTimeoutMs = 30_000, withinMs = CLI_WITHIN_MS } = {},
): Promise<void> {
  const environment = {
    ...topology.environment,
    EVENT_STORE: 'redis',
    REDIS_URL: topology.environment['REDIS_URL']!.replace(/\/\/.*@/, '//'),
    STORE_TIMEOUT_MS: String(storeTimeoutMs),
  };
  const script = join(compiled(), 'dist/cli.js');
  const env = { PATH: process.env['PATH'], ...environment };
  await promisify(execFile)(process.execPath, [script, ...args], {
    env,
    timeout: withinMs,
    killSignal: 'SIGKILL',
  });
}

const WRITE = (bytes: Buffer) => bytes.includes('Plant');

/** Of every topology. */
export const FAULTS: Faults = {
  'kill an instance': lasting(anInstance, kill, run),
  'restart the instances one after the other': async ({ instances }) => {
    const codes: (number | null)[] = [];
    for (const instance of instances) {
      codes.push(await instance.end());
      await instance.run();
    }
    const wrong = codes.filter((code) => code !== 0);
    return wrong.length === 0 ? {} : { violation: `instances ended with the exit codes ${wrong.join()}` };
  },
  'freeze an instance': async (rig, choice) => {
    await anInstance(rig, choice).freeze(choice.lastsMs);
    return undefined;
  },
  'kill a primary and start it at once': async (rig, choice) => {
    const primary = await aPrimary(rig, choice);
    await primary.kill();
    await primary.run();
    return undefined;
  },
  'freeze a primary': lasting(aPrimary, freeze, thaw),
  'cut the connections of a primary': lasting(aPrimary, (each) => each.proxy.cut(), heal),
  'lose replies to writes': async (rig, choice) => {
    const { proxy } = await aPrimary(rig, choice);
    for (let count = 0; count < LOST_REPLIES; count++)
      await Promise.race([proxy.loseReply(WRITE, 'cut'), pause(choice.lastsMs)]);
    proxy.heal();
    return undefined;
  },
  'lose a reply to a write silently': lasting(
    aPrimary,
    // Not awaited: there may be no write to lose the reply of.
    (each) => void each.proxy.loseReply(WRITE, 'left open'),
    heal,
  ),
  'cut a write': lasting(aPrimary, (each) => void each.proxy.cutRequest(WRITE, 100), heal),
  'delay the bytes of a primary': lasting(aPrimary, (each) => (each.proxy.delayMs = DELAY_MS), heal),
  'drop the bytes of a primary': lasting(aPrimary, (each) => each.proxy.blackhole(), heal),
  'flush the scripts of a primary': lasting(
    aPrimary,
    (each) => each.call('SCRIPT', 'FLUSH'),
    () => {},
  ),
  'fill the disk of a primary': fullDisk(aPrimary),
  'set appendfsync everysec': setting('appendfsync', 'everysec', 'late_fsync'),
  'set maxmemory-policy allkeys-lru': setting('maxmemory-policy', 'allkeys-lru', 'evicts'),
  'set maxmemory 1': setting('maxmemory', '1', 'out_of_memory'),
  'set min-replicas-to-write 9': setting('min-replicas-to-write', '9', 'replicas_missing'),
};

const WITH_REPLICAS: Faults = {
  ...FAULTS,
  'kill a primary until a replica takes over': untilAnotherTakesOver(kill, run),
  'kill a primary without its replicas': killWithoutReplicas,
  'freeze a primary until a replica takes over': untilAnotherTakesOver(freeze, thaw),
  'restore a backup': restore,
  'kill a replica': lasting(aReplica, kill, run),
  'freeze a replica': lasting(aReplica, freeze, thaw),
  'disconnect a replica': lasting(aReplica, (each) => each.proxy.blackhole(), heal),
  'fill the disk of a replica': fullDisk(aReplica),
  'fail over as planned': async (rig, choice) => {
    await rig.topology.failOver(await aPrimary(rig, choice));
    return { plannedFailovers: rig.topology.plannedMayLose ? 0 : 1 };
  },
};

export const ONE_REDIS_FAULTS: Faults = {
  ...FAULTS,
  // A failover could lose the base.
  'archive the older events of a user': archive,
  // Sentinels would end the script.
  'run a script for long': lasting(aPrimary, keepBusy, (each) => each.call('SCRIPT', 'KILL')),
};

export const SENTINEL_FAULTS: Faults = {
  ...WITH_REPLICAS,
  // Not in a Cluster, whose servers are also connected among each other.
  'disconnect a primary until a replica takes over': untilAnotherTakesOver(
    (each) => each.proxy.blackhole(),
    heal,
  ),
  'kill a Sentinel': lasting(aSentinel, kill, run),
  'freeze a Sentinel': lasting(aSentinel, freeze, thaw),
};

export const CLUSTER_FAULTS: Faults = {
  ...WITH_REPLICAS,
  'move the slot of a user': moveSlot(() => pause(50)),
  // The old primary redirects clients to the new one, which does not answer.
  'move the slot of a user to a frozen primary': moveSlot(async (target) => {
    target.freeze();
    await pause(1.5 * STORE_TIMEOUT_MS);
    target.thaw();
  }),
};

/** The faults with these names. */
export function only(faults: Faults, ...names: readonly string[]): Faults {
  return Object.fromEntries(names.map((name) => [name, faults[name]!]));
}

function moveSlot(meanwhile: (target: RedisProgram) => Promise<void>): Fault {
  return async ({ topology, users }, choice) => {
    await topology.moveSlot!(keyOf(picked(users, choice)), meanwhile);
    return undefined;
  };
}

async function keepBusy(primary: RedisProgram): Promise<void> {
  await primary.call('CONFIG', 'SET', 'busy-reply-threshold', '50');
  primary.call('EVAL', 'while true do end', 0).catch(() => {});
  // It cannot be stopped earlier.
  await pause(200);
}

/** A fault at a place and of a duration that the seed determines. */
export interface FaultStep extends FaultChoice {
  readonly fault: string;
  /** From the recovery of the last fault to this one. */
  readonly pauseMs: number;
}

/** All faults in random order, repeatedly. */
export function* scheduleOf(faults: Faults, random: () => number): Generator<FaultStep, never> {
  for (;;) {
    const left = Object.keys(faults);
    while (left.length > 0) {
      const [fault = ''] = left.splice(Math.floor(random() * left.length), 1);
      yield { fault, pauseMs: 200 + 1500 * random(), lastsMs: 200 + 4500 * random() ** 2, roll: random() };
    }
  }
}
