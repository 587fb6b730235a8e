import { type HttpServer, type RequestReport, listen } from '../adapters/http';
import type { Config } from './config';

type ServedApp = Parameters<typeof listen>[0];

interface Apps {
  readonly app: ServedApp;
  readonly adminApp: ServedApp;
  readonly report: (request: RequestReport) => void;
}

export interface Servers {
  readonly server: HttpServer;
  /** Absent without ADMIN_PORT. */
  readonly admin?: HttpServer;
}

/** Of probes, scrapes and operators. */
const MAX_ADMIN_CONNECTIONS = 32;

/** To close a server whose requests need not be answered. */
export const AT_ONCE = { noticeMs: 0, timeoutMs: 100 };

/** Opens the server of clients and, if ADMIN_PORT is set, that of operators. Rejects if one of them cannot listen. */
export async function openServers(config: Config, { app, adminApp, report }: Apps): Promise<Servers> {
  const common = { host: config.HOST, requestTimeoutMs: config.REQUEST_TIMEOUT_MS, report };
  const listenToClients = () =>
    listen(app, { ...common, port: config.PORT, maxConnections: config.MAX_CONNECTIONS });
  if (config.ADMIN_PORT === undefined) return { server: await listenToClients() };
  const admin = await listen(adminApp, {
    ...common,
    port: config.ADMIN_PORT,
    maxConnections: MAX_ADMIN_CONNECTIONS,
    // A probe that is refused restarts the instance.
    whenFull: 'close-oldest',
  });
  try {
    return { server: await listenToClients(), admin };
  } catch (error) {
    await admin.close(AT_ONCE);
    throw error;
  }
}
