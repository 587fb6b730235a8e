import { setTimeout as delay } from 'node:timers/promises';
import { forbidCaching, sendJson } from '../context';
import type { Routes } from '../middleware/route';
import type { MetricsSource, Readiness } from '../options';
import { HttpProblem, PROBLEMS } from '../problems';

/** The readiness of a service that shuts down. */
export const DRAINING: Readiness = { reads: false, writes: false, reasons: ['draining'] };

/** The readiness of a service whose store says nothing about it. */
export const alwaysReady = async (): Promise<Readiness> => ({ reads: true, writes: true });

/** For probes. */
export function healthRoutes(ready: () => Promise<Readiness>): Routes<'/health/live' | '/health/ready'> {
  return {
    '/health/live': {
      // A process that answers need not be restarted.
      get(ctx) {
        forbidCaching(ctx);
        sendJson(ctx, '{"status":"live"}');
      },
    },
    '/health/ready': {
      // Ready if reads work. The body says whether writes work: no other instance can write what the store refuses.
      async get(ctx) {
        forbidCaching(ctx);
        const { reads, writes, reasons = [] } = await ready();
        if (!reads) {
          const message = `the service takes no requests now: ${reasons.join(', ')}`;
          throw new HttpProblem(PROBLEMS.unavailable, { message, reason: reasons[0] });
        }
        sendJson(ctx, JSON.stringify({ status: 'ready', reads, writes, ...(!writes && { reasons }) }));
      },
    },
  };
}

/** For scrapes, if there is something to scrape. */
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

/** A scrape is followed by this many times its own time without one, within this bound. */
const REST = 9;
const MAX_REST_MS = 1000;

/**
 * Scrapes at the same time share one, which begins after all of them have asked. A scrape costs as much as many requests,
 * and may need no token, so it takes at most a tenth of the time.
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
