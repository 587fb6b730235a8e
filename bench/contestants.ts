/** The measured servers, in the order of the table. */
import { dirname, join } from 'node:path';
import { HEAP_FLAGS } from '../src/adapters/system/heap';
import { compiledMain } from '../test/support/compiled';
import type { Contestant } from './measure';

export function contestants(): Contestant[] {
  return [
    plantStore('plant-store', 'plant-store as it is started, a log line a request'),
    plantStore('plant-store-redis', 'plant-store on Redis, each write synced to disk', {}, { redis: true }),
    plantStore('plant-store-warn', 'plant-store, log level `warn`', { LOG_LEVEL: 'warn' }),
    peer('bare', 'bare `node:http`, fixed answers', { remembers: false, notInQuick: true }),
    peer('bare-redis', 'bare `node:http`, which waits for one command to Redis', {
      redis: true,
      remembers: false,
    }),
    peer('koa-fixed', 'Koa 3, router, koa-bodyparser, fixed answers', { remembers: false }),
    peer('fastify', 'Fastify 5 and a Map, compiled schemas'),
    peer('fastify-redis', 'Fastify 5 and hashes in Redis', { redis: true }),
    peer('koa', 'Koa 3, router, koa-bodyparser, ajv and a Map'),
    peer('koa-redis', 'Koa 3, router, koa-bodyparser, ajv and hashes in Redis', { redis: true }),
  ];
}

/** A server that does no more for a write than the promises of plant-store require. */
export function least(): Contestant {
  const title = 'bare `node:http` with the store, the header fields and the log of plant-store';
  const contestant = peer('least', title, { redis: true, remembers: false });
  const { args, env } = contestant.command;
  return { ...contestant, command: { args, env: { ...env, SERVICE: dirname(dirname(compiledMain())) } } };
}

export function contestantOf(wanted: string): Contestant {
  return contestants().find(({ name }) => name === wanted)!;
}

/** The same server, which loads a compiled script of bench/servers before its own. */
export function preloading(
  contestant: Contestant,
  script: string,
  more: Readonly<Record<string, string>> = {},
): Contestant {
  const { args, env } = contestant.command;
  const command = { args: ['--require', join(__dirname, 'dist', script), ...args], env: { ...env, ...more } };
  return { ...contestant, command };
}

/** The same server with this number of users, who take turns. */
export function withUsers(contestant: Contestant, users: number): Contestant {
  const { args, env } = contestant.command;
  const numbers = Array.from({ length: users }, (_, number) => number);
  const tokens = numbers.flatMap((number) =>
    ['reader', 'writer'].map((name) => `${name}${number}:${contestant[name as 'reader']}${number}`),
  );
  return { ...contestant, users, command: { args, env: { ...env, AUTH_TOKENS: tokens.join() } } };
}

function peer(name: string, title: string, more: Partial<Contestant> = {}): Contestant {
  const [program] = name.split('-redis');
  // The service sets them itself.
  return server(name, title, [...HEAP_FLAGS, join(__dirname, 'dist', `${program}.js`)], {}, more);
}

function plantStore(
  name: string,
  title: string,
  env: Readonly<Record<string, string>> = {},
  more: Partial<Contestant> = {},
): Contestant {
  return server(name, title, [compiledMain()], { EVENT_STORE: 'memory', ...env }, more);
}

function server(
  name: string,
  title: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  more: Partial<Contestant>,
): Contestant {
  const tokens = 'reader:reads-with-this-token,writer:writes-with-this-token';
  return {
    name,
    title,
    command: { args, env: { AUTH_TOKENS: tokens, ...env } },
    reader: 'reads-with-this-token',
    writer: 'writes-with-this-token',
    remembers: true,
    ...more,
  };
}
