import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client, untilServed } from '../../support/client';
import { type Instance, startInstance } from '../../support/instance';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { endWithProcess } from '../../support/redis/end-with-process';
import { freePort } from '../../support/redis/free-port';

const KEY = 'plant-store:{alice}:events';

describeOwnRedis('Behind a Sentinel', (startRedis) => {
  let primary: RedisServer;
  let replica: RedisServer;
  let sentinel: Sentinel | undefined;
  let instance: Instance;
  let alice: Client;

  before(async function () {
    this.timeout(20_000);
    primary = await startRedis();
    needsLocalServers(this, primary, 'Sentinel');
    replica = await startRedis('--replicaof', ...primary.peer);
    sentinel = await Sentinel.watch(primary.port);
    instance = await startInstance({
      REDIS_SENTINELS: `127.0.0.1:${sentinel.port}`,
      REDIS_SENTINEL_MASTER: 'plants',
    });
    alice = new Client(instance.url);
  });

  after(async () => {
    await (instance as Instance | undefined)?.stop();
    await sentinel?.stop();
  });

  it('the service serves from the primary that the Sentinel names', async () => {
    expect((await alice.create(1, 'Fern')).status).to.equal(200);
    expect((await alice.list()).names).to.deep.equal(['Fern']);
    expect(await primary.admin.xlen(KEY)).to.equal(1);
  });

  it('and goes on at the new primary when the old one is gone', async function () {
    this.timeout(20_000);
    while ((await replica.admin.xlen(KEY)) === 0) await pause(20);

    await primary.kill9();
    await sentinel!.failover();
    await untilServed(() => alice.create(2, 'Moss'));

    expect((await alice.list()).names).to.deep.equal(['Fern', 'Moss']);
    // The Sentinel has cut all connections, that of `replica.admin` among them.
    await replica.admin.connect();
    expect(await replica.admin.xlen(KEY)).to.equal(2);
  });
});

class Sentinel {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly admin: Redis,
    private readonly end: () => void,
  ) {}

  static async watch(primaryPort: number): Promise<Sentinel> {
    const port = await freePort();
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-sentinel-'));
    const file = join(directory, 'sentinel.conf');
    await writeFile(
      file,
      `port ${port}\nbind 127.0.0.1\ndir ${directory}\nsentinel monitor plants 127.0.0.1 ${primaryPort} 1\n`,
    );
    const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
    child.unref();
    const ended = endWithProcess(() => {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    });
    const admin = new Redis(port, { maxRetriesPerRequest: null, enableReadyCheck: false });
    admin.on('error', () => {});
    await admin.ping();
    return new Sentinel(port, child, admin, () => {
      rmSync(directory, { recursive: true, force: true });
      ended();
    });
  }

  /** Has the replica promoted, and waits until it is. */
  async failover(): Promise<void> {
    const address = async () =>
      String(await this.admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'plants'));
    const before = await address();
    while (!(await this.#accepts('SENTINEL', 'FAILOVER', 'plants'))) await pause(50);
    while ((await address()) === before) await pause(50);
  }

  /** No replica is good enough before the Sentinel has heard of it. */
  async #accepts(...command: [string, ...string[]]): Promise<boolean> {
    return this.admin.call(...command).then(
      () => true,
      () => false,
    );
  }

  async stop(): Promise<void> {
    this.admin.disconnect();
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
    this.end();
  }
}
