import type { Logger } from 'pino';
import { MemoryEventStore } from '../adapters/memory';
import type { RedisTools } from '../adapters/cli/command';
import { convertStore, openRedisEventStore, streamKey } from '../adapters/redis';
import { plantKind } from '../application';
import type { Clock, EventStore, EventStoreOptions, OpenEventStore } from '../event-sourcing';
import type { Config } from './config';
import { openStoreModule } from './store-module';

/** A store that is always available. */
export function alwaysAvailable<T extends EventStore>(store: T): OpenEventStore & { store: T } {
  return { store, check: () => Promise.resolve({ writes: true }), close: () => {} };
}

/**
 * Opens the event store. Rejects with `StoreUnavailable`, whose message says what to do, if Redis answers and must
 * not be used, and, unless `allowUnreachable`, if Redis does not answer; with `UnusableStoreModule` if EVENT_STORE
 * names a module that cannot be used. Unless `createsId`, a store in Redis without an id gets none.
 */
export async function openEvents(
  config: Config,
  log: Logger,
  { allowUnreachable = true, createsId = true }: { allowUnreachable?: boolean; createsId?: boolean } = {},
): Promise<OpenEventStore> {
  if (config.EVENT_STORE === 'memory') {
    const store = new MemoryEventStore();
    return { ...alwaysAvailable(store), catalogue: store, feed: store.feed };
  }
  const options: EventStoreOptions = {
    allowUnreachable,
    timeoutMs: config.STORE_TIMEOUT_MS,
    report: (level, message) => log[level](message),
  };
  if (config.EVENT_STORE !== 'redis') return openStoreModule(config.EVENT_STORE, options);
  return openRedisEventStore({ ...options, ...redisOptions(config), createsId });
}

/** What the commands do with a store in Redis alone. */
export function redisTools(config: Config): RedisTools {
  const options = redisOptions(config);
  return {
    keyOf: (stream) => streamKey(options.keyPrefix, stream),
    convert: (conversion) => convertStore({ ...options, ...conversion, category: plantKind.category }),
  };
}

function redisOptions(config: Config) {
  return {
    url: config.REDIS_URL,
    clusterNodes: config.REDIS_CLUSTER_NODES,
    sentinels: config.REDIS_SENTINELS && {
      nodes: config.REDIS_SENTINELS,
      master: config.REDIS_SENTINEL_MASTER!,
    },
    keyPrefix: config.REDIS_KEY_PREFIX,
    waitReplicas: config.REDIS_WAIT_REPLICAS,
    feedLength: config.REDIS_FEED_LENGTH,
    timeoutMs: config.STORE_TIMEOUT_MS,
    storeId: config.REDIS_STORE_ID,
  };
}

/** Closes the event store. Logs a failure, or that it has not closed in `timeoutMs`, and never rejects. */
export async function closeEvents(
  events: Pick<OpenEventStore, 'close'>,
  log: Logger,
  clock: Clock,
  timeoutMs: number,
): Promise<void> {
  // The timers of the clock do not keep the process alive.
  const alive = setTimeout(() => {}, timeoutMs);
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () =>
      reject(new Error(`it has not closed within ${timeoutMs} ms`)),
    );
    const close = async () => events.close();
    close().then(resolve, reject).finally(cancel);
  }).catch((err: unknown) => log.error({ err }, 'the event store could not be closed'));
  clearTimeout(alive);
}
