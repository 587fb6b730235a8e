import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MemoryEventStore } from './adapters/memory/event-store';
import { RedisConnection } from './adapters/redis/connection';
import { RedisEventStore } from './adapters/redis/event-store';
import type { EventStore } from './application';
import type { Config } from './config';

/** Where events are kept, opened. */
export interface Events {
  readonly store: EventStore;
  close(): void;
}

/** How long the start waits to learn whether Redis is fit; after that it serves, and answers 503 until Redis is there. */
const FIRST_CONTACT_MS = 1500;

/** Rejects where Redis answers and must not be used, with what to do about it. */
export async function openEvents(config: Config, log: Logger): Promise<Events> {
  if (config.EVENT_STORE === 'memory') return { store: new MemoryEventStore(), close: () => {} };

  const connectionOptions = {
    url: config.REDIS_URL,
    clusterNodes: config.REDIS_CLUSTER_NODES,
    sentinels: config.REDIS_SENTINELS && {
      nodes: config.REDIS_SENTINELS,
      master: config.REDIS_SENTINEL_MASTER!,
    },
    timeoutMs: config.STORE_TIMEOUT_MS,
    report: (level: 'info' | 'warn' | 'error', message: string) => log[level](message),
  };
  const writer = new RedisConnection(connectionOptions);
  // Behind an append that waits for replicas, reads would wait too.
  const reader = config.REDIS_WAIT_REPLICAS > 0 ? new RedisConnection(connectionOptions) : writer;
  const close = () => {
    writer.close();
    reader.close();
  };

  const unreachable = await Promise.race([
    writer.examined,
    delay(FIRST_CONTACT_MS, 'unreachable', { ref: false }),
  ]);
  if (unreachable) log.warn('Redis cannot be reached yet; answering 503 until it can');
  else if (writer.trouble !== undefined) {
    close();
    throw new Error(writer.trouble);
  }
  return {
    store: new RedisEventStore(writer, reader, {
      keyPrefix: config.REDIS_KEY_PREFIX,
      waitReplicas: config.REDIS_WAIT_REPLICAS,
    }),
    close,
  };
}
