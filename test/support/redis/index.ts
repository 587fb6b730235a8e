// Where a suite gets its Redis, lazily: the one at REDIS_URL, or one in Docker
// (of the image REDIS_IMAGE), or one from the redis-server on the PATH.
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RedisProvider } from './provider';
import { type NoRedis, RedisServer, disconnect, plainClient } from './server';

export { type RedisServer, disconnect, plainClient } from './server';

const provider = new RedisProvider();
// This file is loaded outside of any suite, so the hook is the whole run's.
after(() => provider.close());

/** A suite's part of the Redis that all ordinary suites share. Readable in hooks and tests only: it is opened lazily. */
export interface SharedRedis {
  readonly url: string;
  /** Unique to this suite, which must keep to keys that begin with it. They are removed behind it. */
  readonly prefix: string;
  /** A plain client, to look at what was stored. */
  readonly admin: Redis;
}

/**
 * Starts a server of the test's own with these arguments of redis-server. One
 * started in a test or a `beforeEach` lives as long as the test, one started in
 * a `before` as long as the suite.
 */
export type StartRedis = (...args: string[]) => Promise<RedisServer>;

/** A suite that needs a Redis, and does nothing to the server itself. Without one the suite is pending, or fails where CI is set. */
export function describeRedis(title: string, body: (redis: SharedRedis) => void): void {
  describe(title, function () {
    const prefix = `test-${randomUUID()}`;
    let opened: { url: string; admin: Redis } | undefined;
    const open = () => {
      if (!opened) throw new Error('the shared Redis is open in hooks and tests only');
      return opened;
    };

    needs(this, async () => {
      const shared = await provider.shared();
      if ('reason' in shared) return shared;
      const admin = plainClient(shared.url);
      await admin.connect().catch((cause: unknown) => {
        throw new Error(`no Redis answers at ${new URL(shared.url).host}`, { cause });
      });
      opened = { url: shared.url, admin };
      return undefined;
    });
    body({
      prefix,
      get url() {
        return open().url;
      },
      get admin() {
        return open().admin;
      },
    });
    after(async () => {
      if (!opened) return;
      await removeKeys(opened.admin, prefix);
      disconnect(opened.admin);
    });
  });
}

/** A suite whose tests start, configure, kill or freeze servers of their own. Never uses REDIS_URL. */
export function describeOwnRedis(title: string, body: (startRedis: StartRedis) => void): void {
  describe(title, function () {
    const ofTheSuite: RedisServer[] = [];
    const ofTheTest: RedisServer[] = [];
    let running = ofTheSuite;

    needs(this, async () => {
      const servers = await provider.servers();
      return 'reason' in servers ? servers : undefined;
    });
    beforeEach(() => (running = ofTheTest));
    body(async (...args) => {
      const servers = await provider.servers();
      if ('reason' in servers) throw new Error(servers.reason);
      const server = await RedisServer.start(await servers.create(args));
      running.push(server);
      return server;
    });
    // Behind the body's own hooks, which may still talk to the servers.
    afterEach(async () => {
      await stopAll(ofTheTest);
      running = ofTheSuite;
    });
    after(() => stopAll(ofTheSuite));
  });
}

/** A first look may have to pull the image. */
const OPEN_WITHIN_MS = 300_000;

function needs(
  suite: Mocha.Suite & { pendingReason?: string },
  open: () => Promise<NoRedis | undefined>,
): void {
  before(async function () {
    this.timeout(OPEN_WITHIN_MS);
    const missing = await open();
    if (missing === undefined) return;
    if (process.env.CI) throw new Error(`${missing.reason} (CI is set, so this is a failure)`);
    suite.pendingReason = missing.reason;
    this.skip();
  });
}

/**
 * Leaves out a suite whose servers tell clients where to find one another: for its `before`, told any server of it.
 *
 * @param what the suite tries, such as `Sentinel`.
 */
export function needsLocalServers(hook: Mocha.Context, { peer: [host] }: RedisServer, what: string): void {
  if (host === '127.0.0.1') return;
  const pendingReason = `${what} is tried with the redis-server on the PATH only: it tells where it sees the servers itself, and those in Docker are seen elsewhere from outside`;
  Object.assign(hook.test!.parent!, { pendingReason });
  hook.skip();
}

async function stopAll(servers: RedisServer[]): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
}

async function removeKeys(redis: Redis, prefix: string): Promise<void> {
  const found: AsyncIterable<string[]> = redis.scanStream({ match: `${prefix}*`, count: 1000 });
  for await (const keys of found) {
    if (keys.length > 0) await redis.unlink(keys);
  }
}
