import { setTimeout as delay } from 'node:timers/promises';
import {
  type Codec,
  type EventStore,
  type SnapshotStore,
  StoreUnavailable,
  type StreamCatalogue,
} from '../../event-sourcing';
import { APPEND_BOUNDS, type AppendBounds, type AppendLoad } from './append-writer';
import type { Address } from './client';
import { EXAMINE_EVERY_MS, RedisConnection } from './connection';
import { REDIS_DEFAULTS } from './defaults';
import { RedisEventStore } from './event-store';
import { FindingLog } from './finding-log';
import type { FindingName } from './server-checks';
import { RedisSnapshotStore } from './snapshot-store';
import { RedisStreamCatalogue } from './stream-catalogue';

export interface RedisOptions<Event> {
  /** Encodes and decodes events. */
  readonly codec: Codec<Event>;
  /** redis:// or rediss://, with user, password and db. For a cluster or Sentinel, host and port are ignored. */
  readonly url: string;
  readonly clusterNodes?: readonly Address[] | undefined;
  readonly sentinels?: { readonly nodes: readonly Address[]; readonly master: string } | undefined;
  /** Prefix of all keys; as in {@link REDIS_DEFAULTS} by default, like the next two. */
  readonly keyPrefix?: string;
  /** How many replicas must confirm an append before it is acknowledged; 0 on a cluster. */
  readonly waitReplicas?: number;
  /** Deadline of a request, in ms. A single Redis command gets half of it. */
  readonly timeoutMs?: number;
  /** Maximum number of events of a page, 1 or more; 128 by default. For tests: every page boundary is a case. */
  readonly pageSize?: number | undefined;
  /** Whether the store opens while Redis cannot be reached; true by default. */
  readonly allowUnreachable?: boolean;
  /** How often the server is examined, in ms; {@link EXAMINE_EVERY_MS} by default. */
  readonly examineEveryMs?: number;
  /** Logs connects and disconnects, and the problems of the server. Silent by default. */
  readonly report?: (level: 'info' | 'warn' | 'error', message: string) => void;
}

/** The current status of the store. */
export interface StoreStatus {
  readonly reads: boolean;
  readonly writes: boolean;
  /** All possible problems of the server, and whether each is present. */
  readonly findings: Readonly<Record<FindingName, boolean>>;
  /** Appends without a reply. */
  readonly appends: AppendLoad;
  /** Queue limit of appends without a reply. */
  readonly appendBounds: AppendBounds;
}

/** An open event store. */
export interface OpenEventStore<Event> {
  readonly store: EventStore<Event>;
  readonly catalogue: StreamCatalogue;
  /** Absent for a store that loads histories at once. */
  readonly snapshots?: SnapshotStore | undefined;
  /** Health check: resolves with whether the store accepts writes; rejects if it does not answer reads. */
  check(): Promise<{ readonly writes: boolean }>;
  /** Absent for a store without a server. */
  readonly status?: (() => StoreStatus) | undefined;
  close(): void;
}

/** How long opening waits for the first examination of Redis. */
const FIRST_CONTACT_MS = 1500;

/**
 * Opens an event store on Redis.
 *
 * Rejects with {@link StoreUnavailable} if Redis must not be used (a replica, an
 * eviction policy …); the message says how to correct it. If Redis cannot be
 * reached, it resolves unless `allowUnreachable` is false, and all calls fail with
 * StoreUnavailable until it can.
 */
export async function openRedisEventStore<Event>(
  options: RedisOptions<Event>,
): Promise<OpenEventStore<Event>> {
  const { codec, pageSize, allowUnreachable = true, report = () => {} } = options;
  const { keyPrefix = REDIS_DEFAULTS.keyPrefix, waitReplicas = REDIS_DEFAULTS.waitReplicas } = options;
  const { timeoutMs = REDIS_DEFAULTS.timeoutMs } = options;
  const findings = new FindingLog(report, options.examineEveryMs ?? EXAMINE_EVERY_MS);
  const connection = () => new RedisConnection({ ...options, timeoutMs, waitReplicas, report, findings });
  const writer = connection();
  // A separate connection, so that reads do not wait for replicas.
  const reader = waitReplicas > 0 ? connection() : writer;
  const close = () => {
    writer.close();
    reader.close();
  };

  const unreachable = await Promise.race([
    Promise.all([writer.examined, reader.examined]).then(() => undefined),
    delay(FIRST_CONTACT_MS, 'unreachable', { ref: false }),
  ]);
  const unavailableReason = writer.unavailableReason ?? reader.unavailableReason;
  if (unreachable && allowUnreachable)
    report('warn', 'Redis cannot be reached yet; every request fails until then');
  else if (unavailableReason !== undefined) {
    close();
    throw new StoreUnavailable(unavailableReason);
  }
  const store = new RedisEventStore(writer, reader, { codec, keyPrefix, pageSize, waitReplicas });
  const writes = () => writer.unavailableReason === undefined && findings.writes;
  return {
    store,
    catalogue: new RedisStreamCatalogue(writer, { keyPrefix, waitReplicas }),
    // No write of a snapshot waits for replicas.
    snapshots: new RedisSnapshotStore(reader, { keyPrefix }),
    // Not on the writer's connection: while replicas are missing, each command there waits for them.
    async check() {
      await reader.check();
      return { writes: writes() };
    },
    status: () => ({
      reads: reader.unavailableReason === undefined,
      writes: writes(),
      findings: findings.flags,
      appends: store.appends.load,
      appendBounds: APPEND_BOUNDS,
    }),
    close,
  };
}
