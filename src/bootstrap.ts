import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { StaticTokens } from './adapters/auth/static-tokens';
import { type RequestReport } from './adapters/http/app';
import { listen } from './adapters/http/server';
import { MemoryEventStore } from './adapters/memory/event-store';
import { RedisConnection } from './adapters/redis/connection';
import { RedisEventStore } from './adapters/redis/event-store';
import { systemClock } from './adapters/system/clock';
import { mintCommitId } from './adapters/system/commit-id';
import {
  type CollectionObserver,
  type EventStore,
  OutcomeUnknown,
  PlantStore,
  StoreUnavailable,
  UnreadableHistory,
  type User,
  parseUser,
} from './application';
import type { Config } from './config';

export interface Service {
  /** Where it listens, e.g. http://127.0.0.1:3000. */
  readonly url: string;
  /** Made at start where no authentication was configured; speaks for the user `dev`. */
  readonly developmentToken: string | undefined;
  /**
   * Drains and ends; true where nothing had to be cut off. For `noticeMs` it
   * still takes new connections, while those who send them learn that it ends.
   */
  stop(noticeMs?: number): Promise<boolean>;
}

/** What a caller may bring along instead of what the configuration would choose; tests do. */
export interface Overrides {
  readonly eventStore?: EventStore;
  readonly log?: Logger;
}

/** How many requests of one user may wait for a round. */
const MAX_WAITING = 1024;

/**
 * The one composition root: from a configuration to a running service. Rejects
 * where the address cannot be had.
 */
export async function bootstrap(config: Config, overrides: Overrides = {}): Promise<Service> {
  const log = overrides.log ?? pino({ level: config.LOG_LEVEL });
  const developmentToken =
    config.AUTH_TOKENS === undefined ? randomBytes(24).toString('base64url') : undefined;

  const events = overrides.eventStore
    ? { store: overrides.eventStore, close: () => {} }
    : await openEvents(config, log);
  const plants = new PlantStore({
    store: events.store,
    clock: systemClock,
    mintCommit: mintCommitId,
    timeoutMs: config.STORE_TIMEOUT_MS,
    maxWaiting: MAX_WAITING,
    cacheMaxPlants: config.CACHE_MAX_PLANTS,
    observer: logFaults(log),
  });
  const server = await listen({
    plants,
    authenticator: new StaticTokens(config.AUTH_TOKENS ?? [[developmentToken!, DEVELOPER]]),
    host: config.HOST,
    port: config.PORT,
    maxConnections: config.MAX_CONNECTIONS,
    bodyLimit: config.BODY_LIMIT,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    report: (request) => logRequest(log, request),
  }).catch((error: unknown) => {
    events.close();
    throw error;
  });

  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
  return {
    url: `http://${host}:${server.port}`,
    developmentToken,
    async stop(noticeMs = 0) {
      const clean = await server.close({ noticeMs, timeoutMs: config.SHUTDOWN_TIMEOUT_MS });
      events.close();
      return clean;
    },
  };
}

/** How long the start waits to learn whether Redis is fit; after that it serves, and answers 503 until Redis is there. */
const FIRST_CONTACT_MS = 1500;

async function openEvents(config: Config, log: Logger): Promise<{ store: EventStore; close: () => void }> {
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

const DEVELOPER: User = parseUser('dev')!;

function logRequest(log: Logger, { error, ...request }: RequestReport): void {
  if (error === undefined) log.info(request, 'request');
  else if (request.status === 503) log.warn({ ...request, err: error }, 'request');
  else log.error({ ...request, err: error }, 'request');
}

function logFaults(log: Logger): CollectionObserver {
  return {
    historyLost: (_stream, known) =>
      log.error(
        { version: known.version },
        'the event store lost history that was served before; starting over from what it has',
      ),
    fault(stream, error) {
      // A store that is away shows in every request that it fails. What somebody has to mend is told where it happens.
      const passing = error instanceof OutcomeUnknown || error instanceof StoreUnavailable;
      if (!passing || error instanceof UnreadableHistory) log.error({ stream, err: error }, 'a round failed');
    },
  };
}
