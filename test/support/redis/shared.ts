import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { freePort } from '../ports';
import { pendingIf } from '../programs';
import { startInDocker } from './docker';
import { RedisServer, disconnect, plainClient } from './server';

/** The shared Redis, as one suite sees it. Its members are set only in hooks and tests. */
export interface SharedRedis {
  url: string;
  /**
   * Unique to this suite, which must use only keys that begin with it. They are removed after the
   * suite.
   */
  readonly prefix: string;
  admin: Redis;
}

/**
 * The ways to get the shared Redis, in order of preference. Each resolves with a URL and a function
 * that stops the server.
 */
const SOURCES: Readonly<
  Record<string, () => Promise<[url: string, end?: () => Promise<unknown>]>>
> = {
  REDIS_URL: async () => {
    if (!process.env.REDIS_URL) throw new Error('it is not set');
    return [process.env.REDIS_URL];
  },
  'testcontainers, in Docker': () => startInDocker('--save', ''),
  'the redis-server on the PATH': async () => {
    const server = new RedisServer(await freePort(), []);
    await server.start();
    return [server.url, () => server.stop()];
  },
};

let shared: Promise<{ url: string } | { reason: string }> | undefined;
let endShared: (() => Promise<unknown>) | undefined;
// Outside of any suite, so that it runs at the end of the whole run.
after(() => endShared?.());

async function openShared(): Promise<{ url: string } | { reason: string }> {
  let reason = 'no Redis here';
  for (const [name, start] of Object.entries(SOURCES))
    try {
      const [url, end] = await start();
      endShared = end;
      console.log(`Redis shared by the suites: ${name} (${new URL(url).host})`);
      return { url };
    } catch (error) {
      reason += `; ${name}: ${(error as Error).message}`;
    }
  return { reason };
}

/**
 * A suite that needs a Redis and does not change its configuration. Without Redis it is pending, or
 * fails if CI is set.
 */
export function describeSharedRedis(title: string, body: (redis: SharedRedis) => void): void {
  describe(title, () => {
    const redis = { prefix: `test-${randomUUID()}` } as SharedRedis;
    pendingIf(async () => {
      const found = await (shared ??= openShared());
      if ('reason' in found) return found.reason;
      redis.url = found.url;
      redis.admin = plainClient(found.url);
      await redis.admin.connect();
      return undefined;
    });
    body(redis);
    after(async () => {
      if ((redis.admin as Redis | undefined)?.status !== 'ready') return;
      const all: AsyncIterable<string[]> = redis.admin.scanStream({
        match: `${redis.prefix}*`,
        count: 1000,
      });
      for await (const keys of all) if (keys.length > 0) await redis.admin.unlink(keys);
      disconnect(redis.admin);
    });
  });
}
