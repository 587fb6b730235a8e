/** The measured servers, in the order of the table. */
import { join } from 'node:path';
import { compiledMain } from '../test/support/compiled';
import type { Contestant } from './measure';
import { LISTED } from './session';

const OURS = {
  AUTH_TOKENS: 'reader:reads-with-this-token,writer:writes-with-this-token',
  SHUTDOWN_NOTICE_MS: '0',
};

export function contestants(): Contestant[] {
  return [
    peer('bare', 'bare `node:http`, fixed answers', { remembers: false, notInQuick: true }),
    peer('bare-map', '`node:http` and a Map'),
    peer('koa-bare', 'Koa 3, fixed answers, body read by hand', { remembers: false }),
    peer('fastify', 'Fastify 5 and a Map, compiled schemas'),
    peer('koa', 'Koa 3, router, koa-bodyparser, ajv and a Map'),
    peer('express', 'Express 5, ajv and a Map', { notInQuick: true }),
    peer('json-server', 'json-server in memory', { notInQuick: true }),
    ...[10, 1_000, 10_000].map((events) => eventSourced('emmett', 'Emmett', events)),
    ...[10, 1_000, 10_000].map((events) => eventSourced('castore', 'Castore', events)),
    plantStore('plant-store', 'plant-store, in memory', { LOG_LEVEL: 'warn' }),
    plantStore('plant-store-logged', 'plant-store, in memory, a log line a request', { LOG_LEVEL: 'info' }),
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

export function plantStore(name: string, title: string, env: Readonly<Record<string, string>>): Contestant {
  return {
    name,
    title,
    command: { args: [compiledMain()], env: { ...OURS, ...env } },
    reader: 'reads-with-this-token',
    writer: 'writes-with-this-token',
    remembers: true,
  };
}
