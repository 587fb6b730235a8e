import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import {
  DRAINING,
  FAILURE_REASONS,
  METHODS,
  type RequestReport,
  createAdminApp,
  createApp,
} from '../adapters/http';
import { Metrics } from '../adapters/metrics';
import { commitIds, heapShare, openFileLimit, system, systemClock } from '../adapters/system';
import { registeredTracing } from '../adapters/tracing';
import { openStores } from '../application';
import { Capacity, type EventStore } from '../event-sourcing';
import type { Config } from './config';
import { alwaysAvailable, closeEvents, openEvents } from './events';
import { type Authentication, openIdentity } from './identity';
import { logAggregates, openLog, userNames } from './log';
import type { LogDestination } from './log-destination';
import { standardOutput } from './standard-output';
import { readProjections } from './projections';
import { readiness } from './readiness';
import { logRequests } from './request-log';
import { AT_ONCE, openServers } from './servers';
import { packageVersion } from './version';

export interface RunningService extends Pick<Authentication, 'developmentToken' | 'reload'> {
  /** Base URL, e.g. http://127.0.0.1:3000. */
  readonly url: string;
  /** Base URL of the admin port; `undefined` without ADMIN_PORT. */
  readonly adminUrl: string | undefined;
  /**
   * Drains and stops. Resolves with whether all requests were answered. For `noticeMs` new connections are still
   * accepted, while readiness fails.
   */
  stop(noticeMs?: number): Promise<boolean>;
}

/** Parts that tests use instead of those of the configuration. */
export interface Overrides {
  readonly eventStore?: EventStore;
  readonly log?: Logger;
  /** Where `log` writes JSON to, if it does; requests are then logged from templates. */
  readonly jsonDestination?: LogDestination | undefined;
}

/** The folder of its files: the copy in a build, or the package, which only development has. */
function swaggerUi(): string {
  const built = join(__dirname, '../swagger-ui');
  return existsSync(built) ? built : dirname(require.resolve('swagger-ui-dist/package.json'));
}

/** The composition root: starts the service from its configuration. Rejects if it cannot listen at the address. */
export async function bootstrap(config: Config, overrides: Overrides = {}): Promise<RunningService> {
  const log = overrides.log ?? (await openLog(config));
  warnOfFewOpenFiles(log, config.MAX_CONNECTIONS);

  const nameOf = userNames();
  const metrics = new Metrics({
    methods: METHODS,
    failureReasons: FAILURE_REASONS,
    version: packageVersion(),
  });
  const tracing = registeredTracing({ version: packageVersion(), nameOf, system: config.EVENT_STORE });
  if (tracing) log.info('an OpenTelemetry SDK is registered: requests are traced');
  const requestLog = logRequests(log, nameOf, systemClock, overrides.jsonDestination);

  const identity = openIdentity(config, log, metrics);
  const events = overrides.eventStore
    ? alwaysAvailable(overrides.eventStore)
    : await openEvents(config, log).catch((error: unknown) => {
        identity.close();
        throw error;
      });
  const closeStore = () => closeEvents(events, log, systemClock, config.STORE_TIMEOUT_MS);
  const capacity = new Capacity({
    clock: systemClock,
    timeoutMs: config.STORE_TIMEOUT_MS,
    cacheMaxBytes: config.CACHE_MAX_BYTES ?? heapShare(),
    cacheMaxItems: config.CACHE_MAX_PLANTS,
  });
  const stores = openStores({
    ...system(),
    capacity,
    mintCommit: events.mintCommit ?? commitIds(),
    store: metrics.measured(tracing?.traced(events.store) ?? events.store),
    snapshots: events.snapshots && { store: events.snapshots, every: config.SNAPSHOT_EVERY },
    observer: [metrics.aggregates, logAggregates(log, nameOf, config.EVENT_STORE)],
    tracer: tracing?.rounds,
  });
  const report = (request: RequestReport) => {
    metrics.request(request);
    requestLog.report(request);
  };
  const storeReadiness = readiness(events, systemClock, config.STORE_TIMEOUT_MS);
  let draining = false;
  const ready = async () => (draining ? DRAINING : storeReadiness());
  const app = createApp({
    ...stores,
    authenticator: identity.authenticator,
    corsOrigins: config.CORS_ORIGINS ?? [],
    bodyLimit: config.BODY_LIMIT,
    storeTimeoutMs: config.STORE_TIMEOUT_MS,
    maxUserRequests: config.MAX_USER_REQUESTS,
    maxSentBytes: heapShare(),
    report,
    swaggerUi: swaggerUi(),
    tracer: tracing?.requests,
    ...(config.ADMIN_PORT === undefined && { metrics }),
    ready,
  });
  const adminApp = createAdminApp({ metrics, ready, report });
  for (const each of [app, adminApp])
    each.on('error', (err: unknown) => log.error({ err }, 'the HTTP server failed'));
  const { server, admin } = await openServers(config, { app, adminApp, report }).catch(
    async (error: unknown) => {
      identity.close();
      await closeStore();
      throw error;
    },
  );

  const levels = {
    usage: () => capacity.usage,
    ready: async () => (await ready()).reads,
    connections: server.connections,
    maxConnections: config.MAX_CONNECTIONS,
    refusedConnections: server.refusedConnections,
    droppedLogLines: () => standardOutput().dropped,
    waitingRequests: server.waitingRequests,
    lists: () => app.lists,
    bodyBytes: () => app.bodies.bytes,
  };
  metrics.watch(levels, events.status, readProjections(events, log));

  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
  return {
    url: `http://${host}:${server.port}`,
    adminUrl: admin && `http://${host}:${admin.port}`,
    developmentToken: identity.developmentToken,
    reload: identity.reload,
    async stop(noticeMs = 0) {
      draining = true;
      const clean = await server.close({ noticeMs, timeoutMs: config.SHUTDOWN_TIMEOUT_MS });
      // Last, so that probes and scrapes see the drain.
      await admin?.close(AT_ONCE);
      identity.close();
      await closeStore();
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
