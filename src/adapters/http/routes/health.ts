import { setTimeout as delay } from 'node:timers/promises';
import { forbidCaching, sendJson } from '../context';
import type { Routes } from '../middleware/route';
import type { MetricsSource, Readiness } from '../options';
import { HttpFailure, FAILURES } from '../failures';

export const DRAINING: Readiness = { reads: false, writes: false, reasons: ['draining'] };

export const alwaysReady = async (): Promise<Readiness> => ({ reads: true, writes: true });

export function healthRoutes(
  ready: () => Promise<Readiness>,
): Routes<'/health/live' | '/health/ready'> {
  return {
    '/health/live': {
      // A process that answers is alive, whatever the state of its store, and need not be
      // restarted.
      get(ctx) {
        forbidCaching(ctx);
        sendJson(ctx, '{"status":"live"}');
      },
    },
    '/health/ready': {
      // The service is ready if reads work, because other instances cannot write, either, if the
      // store refuses writes. Only the body tells whether writes work.
      async get(ctx) {
        forbidCaching(ctx);
        const { reads, writes, reasons = [] } = await ready();
        if (!reads) {
          const message = `the service takes no requests now: ${reasons.join(', ')}`;
          throw new HttpFailure(FAILURES.unavailable, { message, reason: reasons[0] });
        }
        sendJson(
          ctx,
          JSON.stringify({ status: 'ready', reads, writes, ...(!writes && { reasons }) }),
        );
      },
    },
  };
}

export function metricsRoutes(metrics?: MetricsSource): Partial<Routes<'/metrics'>> {
  if (metrics === undefined) return {};
  const scrape = shared(() => metrics.text());
  return {
    '/metrics': {
      async get(ctx) {
        forbidCaching(ctx);
        const text = await scrape();
        ctx.set('Content-Type', metrics.contentType);
        ctx.body = text;
      },
    },
  };
}

/**
 * After a scrape, the next one waits this many times as long as the scrape took, but at most
 * MAX_REST_MS.
 */
const REST = 9;
const MAX_REST_MS = 1000;

/**
 * Scrapes that are requested at the same time share one result, which is computed after all of them
 * have asked. A scrape costs as much as many requests and may need no token, so scrapes take only
 * about a tenth of the time.
 */
function shared(scrape: () => Promise<string>): () => Promise<string> {
  let rest: Promise<unknown> = Promise.resolve();
  let next: Promise<string> | undefined;
  const begin = () => {
    next = undefined;
    const start = performance.now();
    const scraped = scrape();
    const restAfter = () => delay(Math.min(REST * (performance.now() - start), MAX_REST_MS));
    rest = scraped.then(restAfter, restAfter);
    return scraped;
  };
  return () => (next ??= rest.then(begin));
}
