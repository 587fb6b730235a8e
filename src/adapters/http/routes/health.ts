import { setTimeout as delay } from 'node:timers/promises';
import { forbidCaching, sendJson } from '../context';
import { content, json, noStore } from '../openapi-parts';
import type { Endpoint, Operation, Dependencies } from '../operation';
import type { Readiness } from '../options';
import { HttpFailure, FAILURES } from '../failures';

export const DRAINING: Readiness = { reads: false, writes: false, reasons: ['draining'] };

export const alwaysReady = async (): Promise<Readiness> => ({ reads: true, writes: true });

// A process that answers is alive, whatever the state of its store, and need not be restarted.
const live: Endpoint = (ctx) => {
  forbidCaching(ctx);
  sendJson(ctx, '{"status":"live"}');
};

// Only reads count. If the store refuses writes, all instances fail alike, and sending the requests
// elsewhere does not help. The body tells whether writes work.
function makeReadinessEndpoint({ ready }: Pick<Dependencies, 'ready'>): Endpoint {
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

function makeMetricsEndpoint({ metrics }: Pick<Dependencies, 'metrics'>): Endpoint | undefined {
  if (metrics === undefined) return undefined;
  const scrape = shareScrapes(() => metrics.text());
  return async (ctx) => {
    forbidCaching(ctx);
    const text = await scrape();
    ctx.set('Content-Type', metrics.contentType);
    ctx.body = text;
  };
}

const METRIC = 'http_request_duration_seconds_count{method="GET",route="/plants",status="200"} 7\n';

export const HEALTH_OPERATIONS: readonly Operation<Pick<Dependencies, 'ready' | 'metrics'>>[] = [
  {
    method: 'get',
    path: '/health/live',
    createEndpoint: () => live,
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
    createEndpoint: makeReadinessEndpoint,
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
    createEndpoint: makeMetricsEndpoint,
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

const PAUSE_FACTOR = 9;
const MAX_PAUSE_MS = 1000;

/**
 * Scrapes that are requested at the same time share one result, which is computed after all of them
 * have asked. A scrape costs as much as many requests and may need no token. So the next one waits
 * PAUSE_FACTOR times as long as it took, but at most MAX_PAUSE_MS. Scrapes take about a tenth of the
 * time, or more if one takes longer than a ninth of a second.
 */
function shareScrapes(scrape: () => Promise<string>): () => Promise<string> {
  let paused: Promise<unknown> = Promise.resolve();
  let next: Promise<string> | undefined;
  const begin = () => {
    next = undefined;
    const start = performance.now();
    const scraped = scrape();
    const pause = () => delay(Math.min(PAUSE_FACTOR * (performance.now() - start), MAX_PAUSE_MS));
    paused = scraped.then(pause, pause);
    return scraped;
  };
  return () => (next ??= paused.then(begin));
}
