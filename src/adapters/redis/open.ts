import { setTimeout as delay } from 'node:timers/promises';
import { type EventStore, StoreUnavailable, type StreamCatalogue } from '../../application';
import { APPEND_BOUNDS, type AppendBounds, type AppendLoad } from './append-writer';
import type { Address } from './client';
import { EXAMINE_EVERY_MS, RedisConnection } from './connection';
import { RedisEventStore } from './event-store';
import { FindingLog } from './finding-log';
import type { FindingName } from './server-checks';
import { RedisStreamCatalogue } from './stream-catalogue';

export interface RedisOptions {
  /** redis:// or rediss://, with user, password and db; of a cluster or Sentinel these and TLS only. */
  readonly url: string;
  readonly clusterNodes?: readonly Address[] | undefined;
  readonly sentinels?: { readonly nodes: readonly Address[]; readonly master: string } | undefined;
  /** What the keys begin with; `plant-store` by default. */
  readonly keyPrefix?: string;
  /** How many replicas must hold an append before it is acknowledged; 0 by default, and always on a cluster. */
  readonly waitReplicas?: number;
  /** Within how long a request of a client is answered, in ms, 2000 by default; a command to Redis gets half of it. */
  readonly timeoutMs?: number;
  /** Whether to open also while Redis cannot be reached; true by default. */
  readonly mayBeAway?: boolean;
  /** How often the server is examined, in ms; 10,000 by default. */
  readonly examineEveryMs?: number;
  /** Logs connections that come and go, and what is wrong with the server. Silent by default. */
  readonly report?: (level: 'info' | 'warn' | 'error', message: string) => void;
}

/** What works, and what the store holds; looked at whenever it is asked for. */
export interface StoreStatus {
  readonly reads: boolean;
  readonly writes: boolean;
  /** What can be wrong with the server, and whether it is. */
  readonly findings: Readonly<Record<FindingName, boolean>>;
  /** Appends that Redis has not answered. */
  readonly appends: AppendLoad;
  /** How many of them may be held at most. */
  readonly appendBounds: AppendBounds;
}

/** An event store that was opened. */
export interface OpenEventStore {
  readonly store: EventStore;
  readonly catalogue: StreamCatalogue;
  /** Resolves where the store answers reads, with whether it takes writes; rejects where it does not. */
  check(): Promise<{ readonly writes: boolean }>;
  /** Absent where there is no server that could have one. */
  readonly status?: (() => StoreStatus) | undefined;
  close(): void;
}

/** How long opening waits to learn whether Redis is fit; after that every call fails until it is. */
const FIRST_CONTACT_MS = 1500;

/**
 * Rejects with {@link StoreUnavailable} where Redis answers and must not be
 * used (a replica, one that evicts keys …), with what to do about it. Where
 * Redis cannot be reached yet, it resolves, unless told otherwise, and the
 * store fails with StoreUnavailable until it can.
 */
export async function openRedisEventStore(options: RedisOptions): Promise<OpenEventStore> {
  const { keyPrefix = 'plant-store', waitReplicas = 0, timeoutMs = 2000 } = options;
  const { mayBeAway = true, report = () => {} } = options;
  const findings = new FindingLog(report, options.examineEveryMs ?? EXAMINE_EVERY_MS);
  const connection = () => new RedisConnection({ ...options, timeoutMs, report, findings });
  const writer = connection();
  // On the writer's connection reads would wait for the replicas, too.
  const reader = waitReplicas > 0 ? connection() : writer;
  const close = () => {
    writer.close();
    reader.close();
  };

  const unreachable = await Promise.race([
    Promise.all([writer.examined, reader.examined]).then(() => undefined),
    delay(FIRST_CONTACT_MS, 'unreachable', { ref: false }),
  ]);
  const trouble = writer.trouble ?? reader.trouble;
  if (unreachable && mayBeAway)
    report('warn', 'Redis cannot be reached yet; every request fails until it can');
  else if (trouble !== undefined) {
    close();
    throw new StoreUnavailable(trouble);
  }
  const store = new RedisEventStore(writer, reader, { keyPrefix, waitReplicas });
  const writes = () => writer.trouble === undefined && findings.writes;
  return {
    store,
    catalogue: new RedisStreamCatalogue(writer, { keyPrefix, waitReplicas }),
    // Not on the writer's connection: while replicas are away, each command there waits for them.
    async check() {
      await reader.check();
      return { writes: writes() };
    },
    status: () => ({
      reads: reader.trouble === undefined,
      writes: writes(),
      findings: findings.flags,
      appends: store.appends.load,
      appendBounds: APPEND_BOUNDS,
    }),
    close,
  };
}
