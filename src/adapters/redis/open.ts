import { setTimeout as delay } from 'node:timers/promises';
import {
  type CheckpointStore,
  type EventStoreOptions,
  type Feed,
  type LeaseStore,
  type Notify,
  type OpenEventStore,
  type SnapshotStore,
  type StoreStatus,
  StoreUnavailable,
  type StreamArchive,
  type StreamCatalogue,
} from '../../event-sourcing';
import { APPEND_BOUNDS, type AppendBounds, type AppendLoad } from './append-writer';
import { ChangeNotifier } from './change-notifier';
import type { ClientOptions } from './client';
import { RedisCheckpoints } from './checkpoints';
import { mintCommit } from './commit-id';
import {
  EXAMINE_EVERY_MS,
  FIRST_CONTACT_MS,
  RedisConnection,
  type RedisConnectionOptions,
} from './connection';
import { REDIS_DEFAULTS } from './defaults';
import { RedisEventStore, type RedisEventStoreOptions } from './event-store';
import { reading } from './faults';
import { RedisFeed } from './feed';
import { FindingLog } from './finding-log';
import type { FindingName } from './server-checks';
import { RedisLeases } from './leases';
import { RedisSnapshotStore } from './snapshot-store';
import { RedisStreamArchive } from './stream-archive';
import { StoreIdentity } from './store-identity';
import { RedisStreamCatalogue } from './stream-catalogue';

export interface RedisOptions
  extends
    EventStoreOptions,
    Pick<ClientOptions, 'url' | 'clusterNodes'>,
    Pick<RedisConnectionOptions, 'sentinels' | 'examineEveryMs'>,
    Pick<RedisEventStoreOptions, 'pageSize' | 'feedLength'> {
  /** Prefix of all keys; as in {@link REDIS_DEFAULTS} by default, like `waitReplicas`, `feedLength` and `timeoutMs`. */
  readonly keyPrefix?: string;
  /** How many replicas must confirm an append before it is acknowledged; 0 on a cluster. */
  readonly waitReplicas?: number;
  /** The only id that the store may have. By default, the id that it has at first. */
  readonly storeId?: string | undefined;
  /** Whether to create an id for a store that has none, unless `storeId` names one; true by default. */
  readonly createsId?: boolean;
}

/** The current status of the store. */
export interface RedisStatus extends StoreStatus {
  /** All possible problems of the server, and whether each is present. */
  readonly findings: Readonly<Record<FindingName, boolean>>;
  /** Appends without a reply. */
  readonly appends: AppendLoad;
  /** Queue limit of appends without a reply. */
  readonly appendBounds: AppendBounds;
}

/** An open event store on Redis. */
export interface OpenRedisEventStore extends OpenEventStore {
  readonly catalogue: StreamCatalogue;
  readonly snapshots: SnapshotStore;
  readonly archive: StreamArchive;
  readonly feed: Feed;
  /** The checkpoint of a projection, beside the streams: erasing a stream removes it there, too. */
  readonly checkpoints: (projection: string) => CheckpointStore;
  readonly leases: LeaseStore;
  readonly status: () => RedisStatus;
  readonly mintCommit: () => string;
  close(): void;
}

/** An event store whose connections may not be ready yet. */
export interface ConnectingRedisEventStore extends OpenRedisEventStore {
  /** Resolves after the first examination by every connection; stays pending while no server answers. */
  readonly examined: Promise<unknown>;
  /** Why the store is not available; `undefined` while it is. */
  unavailableReason(): string | undefined;
}

type ConnectOptions = RedisOptions & Pick<RedisEventStoreOptions, 'appendBounds'>;

/**
 * Opens an event store on Redis.
 *
 * Rejects with {@link StoreUnavailable} if Redis must not be used (a replica, an
 * eviction policy …); the message says how to correct it. If Redis cannot be
 * reached, it resolves unless `allowUnreachable` is false, and all calls fail with
 * StoreUnavailable until it can.
 */
export async function openRedisEventStore(options: RedisOptions): Promise<OpenRedisEventStore> {
  const { allowUnreachable = true, report = () => {}, timeoutMs = REDIS_DEFAULTS.timeoutMs } = options;
  const waitMs = allowUnreachable ? FIRST_CONTACT_MS : Math.max(FIRST_CONTACT_MS, timeoutMs);
  const { examined, unavailableReason, ...opened } = connectRedisEventStore(options);
  const unreachable = await Promise.race([
    examined.then(() => undefined),
    delay(waitMs, 'unreachable', { ref: false }),
  ]);
  const reason = unavailableReason();
  if (unreachable && allowUnreachable)
    report('warn', 'Redis cannot be reached yet; every request fails until then');
  else if (reason !== undefined) {
    opened.close();
    throw new StoreUnavailable(reason);
  }
  return opened;
}

/** Connects to Redis without waiting: all calls fail with {@link StoreUnavailable} until it was examined. */
export function connectRedisEventStore(options: ConnectOptions): ConnectingRedisEventStore {
  const { pageSize, feedLength, report = () => {}, appendBounds = APPEND_BOUNDS } = options;
  const { keyPrefix = REDIS_DEFAULTS.keyPrefix, waitReplicas = REDIS_DEFAULTS.waitReplicas } = options;
  const { timeoutMs = REDIS_DEFAULTS.timeoutMs } = options;
  const findings = new FindingLog(report, options.examineEveryMs ?? EXAMINE_EVERY_MS);
  const checks = { ...options, timeoutMs, waitReplicas };
  const identity = new StoreIdentity(keyPrefix, options.storeId, report);
  const ofStore = { ...checks, report, findings, identity };
  const adoptsIdentity = (options.createsId ?? true) ? 'or new' : 'existing';
  const writer = new RedisConnection({ ...ofStore, adoptsIdentity });
  // A separate connection, so that reads do not wait for replicas.
  const reader = waitReplicas > 0 ? new RedisConnection(ofStore) : writer;
  // Silent: subscribers that get no notification poll, and the other connections report the same problems.
  const silent = () => new RedisConnection({ ...checks, identity, report: () => {} });
  const notifier = options.clusterNodes ? undefined : new ChangeNotifier(silent, keyPrefix);
  const notify: Notify | undefined = notifier && ((...args) => notifier.notify(...args));
  const storeOptions = { keyPrefix, pageSize, feedLength, waitReplicas, appendBounds, notify };
  const store = new RedisEventStore(writer, reader, storeOptions);
  const writes = () => writer.unavailableReason === undefined && findings.writes;
  return {
    examined: Promise.all([writer.examined, reader.examined]),
    unavailableReason: () => writer.unavailableReason ?? reader.unavailableReason,
    store,
    catalogue: new RedisStreamCatalogue(writer, { keyPrefix, waitReplicas }),
    feed: new RedisFeed(reader, { keyPrefix, notifier }),
    checkpoints: (projection) => new RedisCheckpoints(reader, { keyPrefix }, projection),
    leases: new RedisLeases(reader, { keyPrefix }),
    // No write of a snapshot waits for replicas.
    snapshots: new RedisSnapshotStore(reader, { keyPrefix }),
    archive: new RedisStreamArchive(reader, { keyPrefix }),
    mintCommit,
    // Not on the writer's connection: while replicas are missing, each command there waits for them.
    async check() {
      await reading(() => reader.check());
      return { writes: writes() };
    },
    status: () => ({
      reads: reader.unavailableReason === undefined,
      writes: writes(),
      findings: findings.flags,
      refusals: findings.refusals,
      appends: store.appends.load,
      appendBounds,
      id: identity.seen,
    }),
    close: () => {
      writer.close();
      reader.close();
      notifier?.close();
    },
  };
}
