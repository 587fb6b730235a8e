import { setTimeout as delay } from 'node:timers/promises';
import { forbidCaching, sendJson } from '../context';
import { content, json, noStore } from '../openapi-parts';
import type { Endpoint, Operation, Parts } from '../operation';
import type { Readiness } from '../options';
import { HttpFailure, FAILURES } from '../failures';

export const DRAINING: Readiness = { reads: false, writes: false, reasons: ['draining'] };

export const alwaysReady = async (): Promise<Readiness> => ({ reads: true, writes: true });

// A process that answers is alive, whatever the state of its store, and need not be restarted.
const live: Endpoint = (ctx) => {
  forbidCaching(ctx);
  sendJson(ctx, '{"status":"live"}');
};

// The service is ready if reads work, because other instances cannot write, either, if the store
// refuses writes. Only the body tells whether writes work.
function readiness({ ready }: Pick<Parts, 'ready'>): Endpoint {
  return async (ctx) => {
    forbidCaching(ctx);
    const { reads, writes, reasons = [] } = await ready();
    if (!reads) {
      const message = `the service takes no requests now: ${reasons.join(', ')}`;
      throw new HttpFailure(FAILURES.unavailable, { message, reason: reasons[0] });
    }
    sendJson(ctx, JSON.stringify({ status: 'ready', reads, writes, ...(!writes && { reasons }) }));
  };
}

function scrapes({ metrics }: Pick<Parts, 'metrics'>): Endpoint | undefined {
  if (metrics === undefined) return undefined;
  const scrape = shared(() => metrics.text());
  return async (ctx) => {
    forbidCaching(ctx);
    const text = await scrape();
    ctx.set('Content-Type', metrics.contentType);
    ctx.body = text;
  };
}

const METRIC = 'http_request_duration_seconds_count{method="GET",route="/plants",status="200"} 7\n';

export const HEALTH_OPERATIONS: readonly Operation<Pick<Parts, 'ready' | 'metrics'>>[] = [
  {
    method: 'get',
    path: '/health/live',
    endpoint: () => live,
    needsUser: false,
    failures: [],
    described: {
      operationId: 'live',
      summary: 'Liveness',
      description: 'Whether the process serves requests. It needs no store.',
      tags: ['Service'],
      responses: {
        200: {
          description: 'The process serves requests.',
          headers: noStore,
          content: json('Live', { example: { status: 'live' } }),
        },
      },
    },
  },
  {
    method: 'get',
    path: '/health/ready',
    endpoint: readiness,
    needsUser: false,
    failures: ['unavailable'],
    described: {
      operationId: 'ready',
      summary: 'Readiness',
      description: 'Whether lists succeed now, and whether writes do.',
      tags: ['Service'],
      responses: {
        200: {
          description: 'Lists succeed.',
          headers: noStore,
          content: json('Ready', { example: { status: 'ready', reads: true, writes: true } }),
        },
      },
    },
  },
  {
    method: 'get',
    path: '/metrics',
    endpoint: scrapes,
    needsUser: false,
    failures: [],
    described: {
      operationId: 'metrics',
      summary: 'Metrics',
      description: 'Metrics of this instance, in the text format of Prometheus.',
      tags: ['Service'],
      responses: { 200: content('Metrics.', 'text/plain; version=0.0.4; charset=utf-8', METRIC) },
    },
  },
];

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
