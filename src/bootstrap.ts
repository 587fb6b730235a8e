import type { Logger } from 'pino';
import { listen } from './adapters/http';
import { Metrics } from './adapters/metrics';
import { heapShare, openFileLimit, system, systemClock } from './adapters/system';
import { type EventStore, PlantStore } from './application';
import type { Config } from './config';
import { alwaysThere, openEvents } from './events';
import { openIdentity } from './identity';
import { logCollections, openLog, userNames } from './log';
import { standardOutput } from './log-destination';
import { together } from './observers';
import { readiness } from './readiness';
import { logRequests } from './request-log';

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

/**
 * The one composition root: from a configuration to a running service. Rejects
 * where the address cannot be had.
 */
export async function bootstrap(config: Config, overrides: Overrides = {}): Promise<Service> {
  const log = overrides.log ?? (await openLog(config));
  warnOfFewOpenFiles(log, config.MAX_CONNECTIONS);

  const nameOf = userNames();
  const metrics = new Metrics();
  const requestLog = logRequests(log, nameOf, systemClock);

  const identity = openIdentity(config, log);
  const events = overrides.eventStore
    ? alwaysThere(overrides.eventStore)
    : await openEvents(config, log).catch((error: unknown) => {
        identity.close();
        throw error;
      });
  const plants = new PlantStore({
    ...system(),
    store: metrics.measured(events.store),
    timeoutMs: config.STORE_TIMEOUT_MS,
    cacheMaxBytes: config.CACHE_MAX_BYTES ?? heapShare(),
    cacheMaxPlants: config.CACHE_MAX_PLANTS,
    observer: together(metrics.collections, logCollections(log, nameOf)),
  });
  const server = await listen({
    plants,
    authenticator: identity.authenticator,
    host: config.HOST,
    port: config.PORT,
    maxConnections: config.MAX_CONNECTIONS,
    bodyLimit: config.BODY_LIMIT,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    storeTimeoutMs: config.STORE_TIMEOUT_MS,
    maxUserRequests: config.MAX_USER_REQUESTS,
    report: (request) => {
      metrics.request(request);
      requestLog.report(request);
    },
    metrics,
    ready: readiness(() => events.check(), systemClock, config.STORE_TIMEOUT_MS),
  }).catch((error: unknown) => {
    identity.close();
    events.close();
    throw error;
  });

  metrics.watch({
    usage: () => plants.usage,
    connections: server.connections,
    droppedLogLines: () => standardOutput().dropped,
    store: events.status,
    waitingRequests: server.waitingRequests,
    waitingTexts: server.waitingTexts,
    textBytes: server.textBytes,
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
      requestLog.close();
      metrics.close();
      return clean;
    },
  };
}

/** What the process opens besides its clients' connections: the listener, Redis, an issuer, the token file, the log. */
const OTHER_OPEN_FILES = 64;

function warnOfFewOpenFiles(log: Logger, maxConnections: number): void {
  const limit = openFileLimit();
  if (limit >= maxConnections + OTHER_OPEN_FILES) return;
  log.warn(
    { limit, maxConnections, needed: maxConnections + OTHER_OPEN_FILES },
    'the limit of open files is too low for MAX_CONNECTIONS; raise it (ulimit -n) or lower MAX_CONNECTIONS',
  );
}
