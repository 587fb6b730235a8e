/** The public interface of the HTTP adapter. */
import { createAdminApp, createApp } from './app/app';
import type { AppOptions, HttpServerOptions } from './options';
import { type HttpServer, listen } from './server/server';

export type { App } from './app/app';
export type { AdminOptions, AppOptions, HttpServerOptions, MetricsSource, Readiness } from './options';
export type { RequestReport, RequestTrace, RequestTracer, SentRequest } from '../../application';
export type { DrainTimes, HttpServer } from './server/server';
export { FAILURE_REASONS } from './app/problems';
export { DRAINING } from './app/service';
export { METHODS } from './openapi/operations';
export { createAdminApp, createApp, listen };

/** {@link listen} with the app of {@link createApp}. All but the first two options have a default. */
export function serve(options: AppOptions & HttpServerOptions): Promise<HttpServer> {
  return listen(createApp(options), options);
}
