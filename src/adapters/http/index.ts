/** The public face of the HTTP adapter. */
import { type HttpServer, type HttpServerOptions, listen } from './server';

export type { RequestReport } from './app';
export type { Readiness } from './readiness';
export type { MetricsSource } from './metrics-source';
export type { DrainTimes, HttpServer, HttpServerOptions } from './server';
export { listen };

/** Whoever calls, and for whom; the rest as the service has it by default (docs/operations.md), on a free port. */
export type ServeOptions = Pick<HttpServerOptions, 'plants' | 'authenticator'> & Partial<HttpServerOptions>;

/** {@link listen}, with a default for everything that has one. */
export function serve(options: ServeOptions): Promise<HttpServer> {
  return listen({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 4096,
    bodyLimit: 65_536,
    requestTimeoutMs: 15_000,
    storeTimeoutMs: 2000,
    maxUserRequests: 2048,
    report: () => {},
    ready: () => Promise.resolve({ reads: true, writes: true }),
    ...options,
  });
}
