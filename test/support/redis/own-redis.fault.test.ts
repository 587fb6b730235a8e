import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { dockerRedis } from './docker';
import { localRedis } from './local';
import { RedisServer, type RedisSource } from './server';

describe('the Redis server of one test', () => {
  promises('as a local process', 'local', localRedis);
  promises('as a container', 'docker', dockerRedis);
});

function promises(title: string, place: string, look: typeof localRedis): void {
  describe(title, () => {
    const servers: RedisServer[] = [];
    let source: RedisSource | undefined;

    before(async function () {
      this.timeout(300_000);
      const found = await look();
      if ('reason' in found) {
        Object.assign(this.test!.parent!, { pendingReason: found.reason });
        this.skip();
      }
      source = found;
    });
    afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));
    after(() => source?.close());

    async function start(...args: string[]): Promise<RedisServer> {
      const server = await RedisServer.start(await source!.create(args));
      servers.push(server);
      return server;
    }

    it('is configured by its arguments and listens on 127.0.0.1 only', async () => {
      const redis = await start('--maxmemory', '5mb');

      expect(await redis.admin.config('GET', 'maxmemory')).to.deep.equal(['maxmemory', '5242880']);
      expect(await reachable(redis)).to.equal(true);
      expect(await reachable({ host: '127.0.0.2', port: redis.port })).to.equal(false);
    });

    it('has its address and acknowledged writes again after a kill -9 and a restart', async () => {
      const redis = await start('--appendonly', 'yes', '--appendfsync', 'always');
      const { run_id: before } = await info(redis);
      await redis.admin.set('plant', 'fern');

      await redis.kill9();
      expect(await reachable(redis)).to.equal(false);

      await redis.start();
      expect((await info(redis)).run_id).not.to.equal(before);
      expect(await reachable(redis)).to.equal(true);
      expect(await redis.admin.get('plant')).to.equal('fern');
    });

    it('accepts a command but does not answer while it is frozen, and executes it after the thaw', async () => {
      const redis = await start();
      await redis.freeze();
      let answered = false;
      const answer = redis.admin.set('plant', 'fern').finally(() => (answered = true));
      expect(await reachable(redis)).to.equal(true);
      await pause(100);
      expect(answered).to.equal(false);

      await redis.thaw();
      expect(await answer).to.equal('OK');
    });

    it('can be killed while it is frozen', async () => {
      const redis = await start('--appendonly', 'yes');
      await redis.freeze();
      await redis.kill9();
      await redis.start();
      expect(await redis.admin.ping()).to.equal('PONG');
    });

    it('can have a replica', async () => {
      const master = await start();
      const replica = await start('--replicaof', ...master.peer);
      await master.admin.set('plant', 'fern');
      while ((await master.admin.wait(1, 1000)) < 1) /* the link is not up yet */ ;
      expect(await replica.admin.get('plant')).to.equal('fern');
    });

    it('is removed with its data by stop, also while it is frozen', async () => {
      const redis = await start();
      const [, directory] = (await redis.admin.config('GET', 'dir')) as [string, string];
      await redis.freeze();
      await redis.stop();
      servers.pop();
      expect(await reachable(redis)).to.equal(false);
      expect(existsSync(directory)).to.equal(false);
    });

    // testcontainers waits ten seconds before it reports that a container has ended.
    if (place === 'local') {
      it('reports why it cannot start with its arguments', async () => {
        const failure: unknown = await start('--no-such-option', '1').catch((error: unknown) => error);
        expect(String(failure)).to.match(/did not start.*no-such-option/s);
      });
    }

    it('ends with the process that started it, on SIGTERM', async () => {
      const script = join(__dirname, 'start-and-stay.ts');
      const owner = spawn(process.execPath, ['-r', 'ts-node/register', script, place], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface(owner.stdout), 'line')) as [string];
      const server = JSON.parse(line) as Address;
      expect(await reachable(server)).to.equal(true);

      owner.kill('SIGTERM');
      expect(await once(owner, 'exit')).to.deep.equal([128 + 15, null]);
      expect(await reachable(server)).to.equal(false);
    });
  });
}

async function info(redis: RedisServer): Promise<Record<string, string>> {
  const lines = (await redis.admin.info('server')).split('\r\n').map((line) => line.split(':', 2));
  return Object.fromEntries(lines) as Record<string, string>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

async function reachable({ host, port }: Address): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
