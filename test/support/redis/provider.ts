import { dockerRedis } from './docker';
import { localRedis } from './local';
import { type NoRedis, RedisServer, type RedisSource } from './server';

export type RedisLookup = () => Promise<RedisSource | NoRedis>;

/**
 * What the Redis suites of one test run stand on. Nothing is looked for before
 * the first suite asks, and nothing is looked for twice.
 *
 * Ordinary suites share one Redis: REDIS_URL, or else a server from the first
 * place that has one. Suites that kill and configure never get REDIS_URL.
 */
export class RedisProvider {
  #servers: Promise<RedisSource | NoRedis> | undefined;
  #shared: Promise<{ url: string } | NoRedis> | undefined;

  constructor(
    private readonly url = process.env.REDIS_URL,
    private readonly lookups: readonly RedisLookup[] = [dockerRedis, localRedis],
    private readonly print: (line: string) => void = console.log,
  ) {}

  /** The Redis that all ordinary suites share. */
  shared(): Promise<{ readonly url: string } | NoRedis> {
    return (this.#shared ??= this.#openShared());
  }

  /** Where a test gets servers of its own. */
  servers(): Promise<RedisSource | NoRedis> {
    return (this.#servers ??= this.#findServers());
  }

  async close(): Promise<void> {
    const shared = await this.#shared;
    if (shared instanceof RedisServer) await shared.stop();
    const servers = await this.#servers;
    if (servers && !('reason' in servers)) await servers.close();
  }

  async #openShared(): Promise<{ url: string } | NoRedis> {
    if (this.url) {
      this.print(`Redis shared by the suites: REDIS_URL (${new URL(this.url).host})`);
      return { url: this.url };
    }
    const servers = await this.servers();
    return 'reason' in servers ? servers : RedisServer.start(await servers.create(['--appendonly', 'no']));
  }

  async #findServers(): Promise<RedisSource | NoRedis> {
    const reasons: string[] = [];
    for (const look of this.lookups) {
      const found = await look();
      if (!('reason' in found)) {
        this.print(`Redis servers for the tests: ${[found.name, ...reasons].join('; ')}`);
        return found;
      }
      reasons.push(found.reason);
    }
    return { reason: `no Redis here: ${reasons.join('; ')}` };
  }
}
