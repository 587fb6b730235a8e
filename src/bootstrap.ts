import { type Logger, pino } from 'pino';
import { type RequestReport } from './adapters/http/app';
import { listen } from './adapters/http/server';
import { systemClock } from './adapters/system/clock';
import { mintCommitId } from './adapters/system/commit-id';
import {
  type CollectionObserver,
  type EventStore,
  OutcomeUnknown,
  PlantStore,
  StoreUnavailable,
  UnreadableHistory,
} from './application';
import type { Config } from './config';
import { openEvents } from './events';
import { openIdentity } from './identity';

export interface Service {
  /** Where it listens, e.g. http://127.0.0.1:3000. */
  readonly url: string;
  /** Made at start where no authentication was configured; speaks for the user `dev`. */
  readonly developmentToken: string | undefined;
  /** Reads AUTH_TOKENS_FILE again, where it is set; what comes of it is in the log. */
  readonly reload: (() => void) | undefined;
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

  const identity = openIdentity(config, log);
  const events = overrides.eventStore
    ? { store: overrides.eventStore, close: () => {} }
    : await openEvents(config, log).catch((error: unknown) => {
        identity.close();
        throw error;
      });
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
    authenticator: identity.authenticator,
    host: config.HOST,
    port: config.PORT,
    maxConnections: config.MAX_CONNECTIONS,
    bodyLimit: config.BODY_LIMIT,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    report: (request) => logRequest(log, request),
  }).catch((error: unknown) => {
    identity.close();
    events.close();
    throw error;
  });

  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
  return {
    url: `http://${host}:${server.port}`,
    developmentToken: identity.developmentToken,
    reload: identity.reload,
    async stop(noticeMs = 0) {
      const clean = await server.close({ noticeMs, timeoutMs: config.SHUTDOWN_TIMEOUT_MS });
      identity.close();
      events.close();
      return clean;
    },
  };
}

function logRequest(log: Logger, { error, ...request }: RequestReport): void {
  if (error === undefined) log.info(request, 'request');
  else if (request.status === 503) log.warn({ ...request, err: error }, 'request');
  else log.error({ ...request, err: error }, 'request');
}

function logFaults(log: Logger): CollectionObserver {
  return {
    historyLost: (stream, known) =>
      log.error(
        { stream, version: known.version },
        'the event store lost history that was served before; starting over from what it has',
      ),
    fault(stream, error) {
      // A store that is away shows in every request that it fails. What somebody has to mend is told where it happens.
      const passing = error instanceof OutcomeUnknown || error instanceof StoreUnavailable;
      if (!passing || error instanceof UnreadableHistory) log.error({ stream, err: error }, 'a round failed');
    },
  };
}
