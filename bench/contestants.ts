/** The measured servers, in the order of the table. */
import { join } from 'node:path';
import { compiledMain } from '../test/support/compiled';
import type { Contestant } from './measure';
import { LISTED } from './session';

/** Streams of this many events; a short one, and one of a user who has used the service for a while. */
const STREAM_LENGTHS = [10, 1_000];

export function contestants(): Contestant[] {
  return [
    plantStore('plant-store', 'plant-store as it is started, a log line a request'),
    plantStore('plant-store-redis', 'plant-store on Redis, each write synced to disk', {}, { redis: true }),
    plantStore('plant-store-warn', 'plant-store, log level `warn`', { LOG_LEVEL: 'warn' }),
    peer('bare', 'bare `node:http`, fixed answers', { remembers: false, notInQuick: true }),
    peer('koa-fixed', 'Koa 3, router, koa-bodyparser, fixed answers', { remembers: false }),
    peer('fastify', 'Fastify 5 and a Map, compiled schemas'),
    peer('koa', 'Koa 3, router, koa-bodyparser, ajv and a Map'),
    peer('express', 'Express 5, ajv and a Map', { notInQuick: true }),
    ...STREAM_LENGTHS.map((events) => eventSourced('emmett', 'Emmett', events)),
    ...STREAM_LENGTHS.map((events) => eventSourced('castore', 'Castore', events)),
  ];
}

function peer(name: string, title: string, more: Partial<Contestant> = {}): Contestant {
  return {
    name,
    title,
    command: { args: [join(__dirname, 'dist', `${name}.js`)] },
    reader: 'any',
    writer: 'any',
    remembers: true,
    ...more,
  };
}

/** It has initial plants. */
function eventSourced(library: string, title: string, events: number): Contestant {
  const name = `${library}-${events}`;
  return peer(name, `${title} on Koa, streams of ${events.toLocaleString('en-GB')} events`, {
    command: { args: [join(__dirname, 'dist', `${library}.js`), String(events)] },
    listed: Math.min(LISTED, events),
    hasInitialPlants: true,
    notInQuick: events !== 1_000,
  });
}

function plantStore(
  name: string,
  title: string,
  env: Readonly<Record<string, string>> = {},
  more: Partial<Contestant> = {},
): Contestant {
  const tokens = 'reader:reads-with-this-token,writer:writes-with-this-token';
  return {
    name,
    title,
    command: { args: [compiledMain()], env: { AUTH_TOKENS: tokens, ...env } },
    reader: 'reads-with-this-token',
    writer: 'writes-with-this-token',
    remembers: true,
    ...more,
  };
}
