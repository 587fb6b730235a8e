import { setTimeout as pause } from 'node:timers/promises';
import { unhurried } from '../../support/patience';
import { PROJECTION_RULES, SERVICE_RULES } from '../../support/redis/acl';
import type { StreamEntry } from '../../support/stored-events';
import { until } from '../../support/until';
import { Network } from './network';
import type { RedisProgram } from './redis-program';

/** Redis servers, and what is particular to the way in which they fail over. */
export interface Topology {
  /** For the service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly nodes: readonly RedisProgram[];
  /** In the order of REDIS_SENTINELS. */
  readonly sentinels: readonly RedisProgram[];
  /** Has a host for each server; `undefined` if all run on this machine. */
  readonly network: Network | undefined;
  /** How many replicas confirm a write before it is acknowledged. */
  readonly waitReplicas: number;
  /** A server that does not answer for this time is replaced. */
  readonly downAfterMs: number;
  /** In a constant order. Rejects while none is known. */
  primaries(): Promise<readonly RedisProgram[]>;
  /** Rises with each failover. */
  epoch(): Promise<number>;
  /** How many failovers of a planned one may lose acknowledged writes: see docs/runbooks/failover.md. */
  readonly plannedMayLose: boolean;
  failOver(primary: RedisProgram): Promise<void>;
  /** Whether all servers know the same primaries, and each primary has its replicas. */
  isWhole(): Promise<boolean>;
  /**
   * Moves the slot of `key` to another primary; only in a Cluster.
   *
   * @param meanwhile runs when the target has the keys, but not yet the slot.
   */
  readonly moveSlot?: (key: string, meanwhile: (target: RedisProgram) => Promise<void>) => Promise<void>;
}

/** How a topology is started. */
export interface TopologyKind {
  /** As in docs/reliability.md. */
  readonly name: string;
  readonly hosts: boolean;
  start(random: () => number): Promise<Topology>;
}

export interface TopologyOptions {
  /** Whether each server and each instance has a host of its own, so that any packets between them can be dropped. */
  readonly hosts?: boolean;
  readonly downAfterMs?: number;
  /** More lines of the configuration file of each redis-server. */
  readonly lines?: readonly string[];
  /** Size of the disk of each redis-server, in MB. */
  readonly diskMb?: number;
}

export const DOWN_AFTER_MS = unhurried(2000);

/** With `down-after-milliseconds` of 4000, a primary that is cut off stops before another one starts: see docs/operations.md. */
export const LEASE = ['min-replicas-to-write 1', 'min-replicas-max-lag 2'];

export const SERVICE_USER = 'plant-store';
/** A Cluster tells who may see it where its slots are. */
const OF_A_CLUSTER = '+cluster|slots +cluster|info';

/** Of a server that keeps what it acknowledged, with the rights of the service as the page says them. */
export const SERVER_LINES: readonly string[] = [
  ...['save ""', 'appendonly yes', 'appendfsync always', 'repl-diskless-sync-delay 0'],
  `user ${SERVICE_USER} ${SERVICE_RULES.join(' ')} ${OF_A_CLUSTER}`,
];

export const SERVICE_URL = urlOf(SERVICE_USER);

/** A user with the rights of a program with a projection. */
const PROJECTION_USER = 'projection';
export const PROJECTION_LINE = `user ${PROJECTION_USER} ${PROJECTION_RULES.join(' ')} ${OF_A_CLUSTER}`;
export const PROJECTION_URL = urlOf(PROJECTION_USER);

function urlOf(user: string): string {
  return `redis://${user}:secret@ignored`;
}

/** Repairs take this long at most, also on a busy machine. */
const WHOLE_WITHIN_MS = 120_000;

/** Waits until the servers are whole, and each replica has all that its primary had when this was called, or became one. */
export async function settled(topology: Topology): Promise<void> {
  // Servers may begin a failover when a fault has already ended.
  let offsets: ReadonlyMap<RedisProgram, number> = new Map();
  const isSettled = async () => {
    if (!(await topology.isWhole().catch(() => false))) return false;
    const factsOf = async (node: RedisProgram) => [node, await node.facts('INFO', 'replication')] as const;
    const all = await Promise.all(topology.nodes.map(factsOf));
    const primaries = all.filter(([, facts]) => facts.get('role') === 'master');
    offsets = new Map(
      primaries.map(([node, facts]) => [node, offsets.get(node) ?? Number(facts.get('master_repl_offset'))]),
    );
    return all.every(([node, facts]) => {
      const primary = primaries.find(([each]) =>
        each.isAt(facts.get('master_host'), facts.get('master_port')),
      )?.[0];
      return offsets.has(node) || Number(facts.get('slave_repl_offset')) >= (offsets.get(primary!) ?? NaN);
    });
  };
  await until(isSettled, WHOLE_WITHIN_MS);
}

/** The entries of a stream. */
export async function entriesOf(topology: Topology, key: string): Promise<StreamEntry[]> {
  const primary = await primaryOf(key, topology);
  return (await primary.call('XRANGE', key, '-', '+')) as StreamEntry[];
}

/** Ends all servers, and removes the network. */
export async function stop({ nodes, sentinels, network }: Topology): Promise<void> {
  await Promise.all([...sentinels, ...nodes].map((program) => program.stop()));
  network?.close();
}

/** The primary that has this key. */
export async function primaryOf(key: string, topology: Topology): Promise<RedisProgram> {
  for (const primary of await topology.primaries()) {
    const isThere = await primary.call('EXISTS', key).then(
      () => true,
      (error: unknown) => {
        if (String(error).includes('MOVED')) return false;
        throw error;
      },
    );
    if (isThere) return primary;
  }
  throw new Error(`no primary has the key ${key}`);
}

/** Whether a replica follows one of these primaries; a primary: whether it is one of them. */
export async function follows(
  node: RedisProgram,
  primaries: readonly RedisProgram[],
  replicas: number,
): Promise<boolean> {
  const facts = await node.facts('INFO', 'replication');
  if (primaries.includes(node)) {
    const online = [...facts].filter(
      ([name, value]) => /^slave\d/.test(name) && value.includes('state=online'),
    );
    return facts.get('role') === 'master' && online.length >= replicas;
  }
  const isPrimary = (each: RedisProgram) => each.isAt(facts.get('master_host'), facts.get('master_port'));
  return facts.get('master_link_status') === 'up' && primaries.some(isPrimary);
}

/** Repeats an action that servers refuse while they are busy with an earlier one. */
export async function accepted(action: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await action();
      return;
    } catch (error) {
      if (attempt === 200) throw error;
      await pause(100);
    }
  }
}
