import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { unhurried } from '../support/patience';
import { until } from '../support/until';
import type { RedisProgram } from './redis-program';

/** Redis servers, and what is particular to the way in which they fail over. */
export interface Topology {
  readonly name: 'sentinel' | 'cluster';
  /** For the service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly nodes: readonly RedisProgram[];
  readonly sentinels: readonly RedisProgram[];
  /** How many replicas confirm a write before it is acknowledged. */
  readonly waitReplicas: number;
  /** In a constant order. Rejects while none is known. */
  primaries(): Promise<readonly RedisProgram[]>;
  /** Rises with each failover. */
  epoch(): Promise<number>;
  /** How many failovers of a planned one may lose acknowledged writes: see docs/runbooks/failover.md. */
  readonly plannedMayLose: boolean;
  failOver(primary: RedisProgram): Promise<void>;
  /** Whether all servers know the same primaries, and each primary has its replicas. */
  isWhole(): Promise<boolean>;
  /** Moves the slot of `key` to another primary; only in a Cluster. */
  readonly moveSlot?: (key: string) => Promise<void>;
}

/** A server that does not answer for this time is replaced. */
export const DOWN_AFTER_MS = unhurried(2000);

/** The user of the service, and its password. */
export const SERVICE_USER = 'plant-store';
export const PASSWORD = 'chaos';

/** Of a server that keeps what it acknowledged, with the rights of the service as the page says them. */
export const SERVER_LINES: readonly string[] = [
  ...['save ""', 'appendonly yes', 'appendfsync always', 'repl-diskless-sync-delay 0'],
  `user ${SERVICE_USER} on >${PASSWORD} ${rights()}`,
];

function rights(): string {
  const [, rights] = /ACL SETUSER plant-store on >… (.*)/.exec(readFileSync('docs/operations.md', 'utf8'))!;
  return `${rights!} +cluster|slots +cluster|info`;
}

/** Repairs take this long at most, also on a busy machine. */
const WHOLE_WITHIN_MS = 120_000;

/** Waits until the servers are whole, and each replica has all that its primary has now. */
export async function settled(topology: Topology): Promise<void> {
  await until(() => topology.isWhole().catch(() => false), WHOLE_WITHIN_MS);
  const offsets = new Map<number, number>();
  for (const primary of await topology.primaries())
    offsets.set(
      primary.proxyPort,
      Number((await primary.facts('INFO', 'replication')).get('master_repl_offset')),
    );
  const hasAll = async (node: RedisProgram) => {
    const facts = await node.facts('INFO', 'replication');
    const wanted = offsets.get(Number(facts.get('master_port')));
    return facts.get('role') === 'master' || Number(facts.get('slave_repl_offset')) >= wanted!;
  };
  for (const node of topology.nodes) await until(() => hasAll(node), WHOLE_WITHIN_MS);
}

/** Whether a replica follows a primary at one of these ports; a primary: whether it is one of them. */
export async function follows(node: RedisProgram, primaries: readonly RedisProgram[]): Promise<boolean> {
  const facts = await node.facts('INFO', 'replication');
  if (primaries.includes(node)) {
    const online = [...facts].filter(
      ([name, value]) => /^slave\d/.test(name) && value.includes('state=online'),
    );
    return facts.get('role') === 'master' && online.length > 0;
  }
  const port = Number(facts.get('master_port'));
  return facts.get('master_link_status') === 'up' && primaries.some(({ proxyPort }) => proxyPort === port);
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
