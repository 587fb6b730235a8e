import type { Logger } from 'pino';
import { METHODS, type RequestReport, createApp, listen } from '../adapters/http';
import { Metrics } from '../adapters/metrics';
import { heapShare, openFileLimit, system, systemClock } from '../adapters/system';
import { PlantStore } from '../application';
import { type EventStore } from '../event-sourcing';
import type { PlantEvent } from '../domain';
import type { Config } from './config';
import { alwaysAvailable, openEvents, snapshotOptions } from './events';
import { openIdentity } from './identity';
import { logAggregates, openLog, userNames } from './log';
import { type LogDestination, standardOutput } from './log-destination';
import { combineObservers } from './observers';
import { readiness } from './readiness';
import { logRequests } from './request-log';

export interface Service {
  /** Base URL, e.g. http://127.0.0.1:3000. */
  readonly url: string;
  /** The token of the user `dev`, minted at the start if no authentication is configured. */
  readonly developmentToken: string | undefined;
  /** Reads AUTH_TOKENS_FILE again, if it is set, and logs the result. */
  readonly reload: (() => void) | undefined;
  /**
   * Drains and stops. Resolves with whether all requests were answered. For `noticeMs` new connections are still
   * accepted, while readiness fails.
   */
  stop(noticeMs?: number): Promise<boolean>;
}

/** Parts that tests use instead of those of the configuration. */
export interface Overrides {
  readonly eventStore?: EventStore<PlantEvent>;
  readonly log?: Logger;
  /** Where `log` writes JSON to, if it does; requests are then logged from templates. */
  readonly jsonDestination?: LogDestination | undefined;
}

/** The composition root: starts the service from its configuration. Rejects if it cannot listen at the address. */
export async function bootstrap(config: Config, overrides: Overrides = {}): Promise<Service> {
  const log = overrides.log ?? (await openLog(config));
  warnOfFewOpenFiles(log, config.MAX_CONNECTIONS);

  const nameOf = userNames();
  const metrics = new Metrics(METHODS);
  const requestLog = logRequests(log, nameOf, systemClock, overrides.jsonDestination);

  const identity = openIdentity(config, log);
  const events = overrides.eventStore
    ? alwaysAvailable(overrides.eventStore)
    : await openEvents(config, log).catch((error: unknown) => {
        identity.close();
        throw error;
      });
  const plants = new PlantStore({
    ...system(),
    store: metrics.measured(events.store),
    snapshots: snapshotOptions(events.snapshots, config.SNAPSHOT_EVERY),
    timeoutMs: config.STORE_TIMEOUT_MS,
    cacheMaxBytes: config.CACHE_MAX_BYTES ?? heapShare(),
    cacheMaxItems: config.CACHE_MAX_PLANTS,
    observer: combineObservers(metrics.aggregates, logAggregates(log, nameOf)),
  });
  const report = (request: RequestReport) => {
    metrics.request(request);
    requestLog.report(request);
  };
  const app = createApp({
    plants,
    authenticator: identity.authenticator,
    bodyLimit: config.BODY_LIMIT,
    storeTimeoutMs: config.STORE_TIMEOUT_MS,
    maxUserRequests: config.MAX_USER_REQUESTS,
    report,
    metrics,
    ready: readiness(() => events.check(), systemClock, config.STORE_TIMEOUT_MS),
  });
  const server = await listen(app, {
    host: config.HOST,
    port: config.PORT,
    maxConnections: config.MAX_CONNECTIONS,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    report,
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
    waitingTexts: () => app.lists.waiting,
    textBytes: () => app.lists.bytes,
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

/** Open files besides client connections: the listener, Redis, an issuer, the token file, the log. */
const OTHER_OPEN_FILES = 64;

function warnOfFewOpenFiles(log: Logger, maxConnections: number): void {
  const limit = openFileLimit();
  if (limit >= maxConnections + OTHER_OPEN_FILES) return;
  log.warn(
    { limit, maxConnections, needed: maxConnections + OTHER_OPEN_FILES },
    'the limit of open files is too low for MAX_CONNECTIONS; raise it (ulimit -n) or lower MAX_CONNECTIONS',
  );
}
