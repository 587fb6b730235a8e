import { streamName } from '../../src/testing/a-stream';
import { plantCodec } from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { openRedisEventStore } from '../../src/adapters/redis';
import { BEGINNING, type EventStore, type Head } from '../../src/event-sourcing';
import { Client } from '../support/client';
import { compiled } from '../support/compiled';
import { compiledCli } from '../support/compiled-cli';
import { created } from '../support/given';
import { describeOwnRedis, disconnect, needsLocalServers, plainClient } from '../support/redis';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { tokenOf } from '../support/token';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { theBlock } from './shell';

const commands = (kind: string) => theBlock(`sh ${kind}`).text;

/** A client of a server that may still be starting. */
async function connectedClient(url: string) {
  const client = plainClient(url);
  await until(() =>
    client.connect().then(
      () => true,
      () => false,
    ),
  );
  return client;
}

describeOwnRedis('A runbook', (startRedis) => {
  const bash = compiledCli();
  const path = temporaryDirectory();
  let environment: Record<string, string>;
  let forgotten: () => void;

  beforeEach(async function () {
    needsLocalServers(this, await startRedis(), 'a data directory');
    const port = await freePort();
    const [directory, backup, file] = [path('redis'), path('backup'), path('redis.conf')];
    for (const each of [directory, backup]) {
      rmSync(each, { recursive: true, force: true });
      mkdirSync(each);
    }
    writeFileSync(
      file,
      `port ${port}\nbind 127.0.0.1\ndir ${directory}\ndaemonize yes\nappendonly yes\nappendfsync always\n`,
    );
    environment = {
      EVENT_STORE: 'redis',
      REDIS_URL: `redis://127.0.0.1:${port}`,
      CONF: file,
      DATA: directory,
      BACKUP: backup,
    };
    forgotten = endWithProcess(() => void spawn('redis-cli', ['-p', String(port), 'SHUTDOWN', 'NOSAVE']));
    await run('redis-server "$CONF"');
  });
  afterEach(async () => {
    await bash('redis-cli -u "$REDIS_URL" SHUTDOWN NOSAVE', environment).ended;
    forgotten();
  });

  async function run(script: string): Promise<void> {
    const { code, error, out } = await bash(`set -e\n${script}`, environment).ended;
    expect(code, `${script}\n${out}${error}`).to.equal(0);
    await started();
  }

  /** A server in the background needs some time to start. */
  async function started(): Promise<void> {
    await until(async () => {
      const client = plainClient(environment['REDIS_URL']!);
      const answer = await client.connect().then(
        () => client.ping(),
        () => '',
      );
      disconnect(client);
      return answer === 'PONG';
    });
  }

  async function withStore<T>(use: (store: EventStore<PlantEvent>) => Promise<T>): Promise<T> {
    const opened = await openRedisEventStore({ codec: plantCodec, url: environment['REDIS_URL']! });
    return use(opened.store).finally(() => opened.close());
  }

  /** Appends events to the streams of `alice` and `bob`, one per commit. */
  async function write(heads: Map<string, Head>, count: number): Promise<void> {
    await withStore(async (store) => {
      for (const user of ['alice', 'bob'])
        for (let number = 0; number < count; number++) {
          const head = heads.get(user) ?? BEGINNING;
          const { version } = head;
          const result = await store.append(streamName(user), head, `${user}-${version}`, [
            created(version, 'Fern'),
          ]);
          if (result.status !== 'appended') expect.fail(result.status);
          heads.set(user, result.head);
        }
    });
  }

  const histories = () =>
    withStore((store) =>
      Promise.all(['alice', 'bob'].map((user) => store.read(streamName(user), BEGINNING))),
    );

  for (const [backup, restore] of [
    ['backup aof', 'restore aof'],
    ['backup rdb', 'restore rdb'],
    ['backup export', 'restore import'],
  ] as const) {
    it(`by "${backup}" and "${restore}" restores every event, and keeps later writes`, async () => {
      const heads = new Map<string, Head>();
      await write(heads, 20);
      const saved = await histories();
      const atBackup = new Map(heads);
      await run(commands(backup));
      await write(heads, 5);

      await run(commands(restore));
      expect(await histories()).to.deep.equal(saved);
      await run('plant-store events verify');

      await write(atBackup, 1);
      const written = await histories();
      // Later starts use the configuration of the file.
      await run('redis-cli -u "$REDIS_URL" SHUTDOWN; redis-server "$CONF"');
      expect(await histories()).to.deep.equal(written);
    });
  }

  it('restores no snapshot if the append-only file is on, as the page warns', async () => {
    await write(new Map(), 3);
    await run(commands('backup rdb'));
    await run(
      'redis-cli -u "$REDIS_URL" SHUTDOWN; rm -r "$DATA"/*; cp "$BACKUP/dump.rdb" "$DATA"; redis-server "$CONF"',
    );
    const afterwards = async () =>
      (await histories()).map((read) => (read.status === 'read' ? read.events.length : 0));
    expect(await afterwards()).to.deep.equal([0, 0]);
  });

  it('erases a user, also from the append-only file', async () => {
    await write(new Map(), 3);
    Object.assign(environment, { ERASED: 'alice', STORE_TIMEOUT_MS: '100' });
    await run(commands('erase'));
    const [alice, bob] = await histories();
    expect([alice, bob].map((read) => (read?.status === 'read' ? read.events.length : 0))).to.deep.equal([
      0, 3,
    ]);
    await run(`grep -rq '{alice}' "$DATA/appendonlydir"`);
    await run(commands('erase file'));
    await run(`! grep -rq '{alice}' "$DATA/appendonlydir"`);
  });

  it('starts Redis again after its disk was full', async () => {
    await write(new Map(), 3);
    const saved = await histories();
    await run(commands('disk usage'));
    await bash('redis-cli -u "$REDIS_URL" SHUTDOWN NOSAVE', environment).ended;
    // A partly written entry.
    const cut = `printf '*3\\r\\n$4\\r\\nXA' >> "$(ls "$DATA"/appendonlydir/*.incr.aof)"`;
    await run(`${cut}\n${commands('disk restart')}`);
    await run(commands('disk verify'));
    expect(await histories()).to.deep.equal(saved);
  });

  it('makes the replica the primary without a Sentinel, with all events', async () => {
    const heads = new Map<string, Head>();
    await write(heads, 3);
    const saved = await histories();
    const { port: primary } = new URL(environment['REDIS_URL']!);
    const replica = await freePort();
    mkdirSync(path('replica'));
    const options = `--port ${replica} --dir ${path('replica')} --daemonize yes --replicaof 127.0.0.1 ${primary}`;
    await run(`redis-server ${options}
      until redis-cli -p ${primary} INFO replication | grep -q state=online; do sleep 0.1; done`);
    await run(commands('failover redis'));
    const old = environment['REDIS_URL']!;
    environment['REDIS_URL'] = `redis://127.0.0.1:${replica}`;
    expect(await histories()).to.deep.equal(saved);
    await write(heads, 1);
    await bash('redis-cli -u "$REDIS_URL" SHUTDOWN NOSAVE', environment).ended;
    environment['REDIS_URL'] = old;
  });

  it('replaces an instance by one of another version', async () => {
    const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
    const service = { OLD: compiled(), NEW: compiled(), AUTH_TOKENS: `alice:${tokenOf('alice')}` };
    Object.assign(environment, ports, service, { SHUTDOWN_NOTICE_MS: '0', LOG_LEVEL: 'warn' });
    const old = bash('exec node "$OLD/dist/main.js"', environment);
    const client = new Client(`http://127.0.0.1:${ports.PORT}`);
    await until(async () => (await client.create(1, 'Fern').catch(() => undefined))?.status === 200);
    environment['PID'] = String(old.child.pid);

    await run(commands('upgrade check'));
    const check = `
      curl -fs "http://127.0.0.1:$PORT/plants" -H 'Authorization: Bearer ${tokenOf('alice')}'
      curl -fs "http://127.0.0.1:$ADMIN_PORT/metrics" | grep '^plant_store_build_info'
      ${commands('sizing')}
      kill $!
      wait`;
    const { code, out } = await bash(`set -e\n${commands('upgrade instance')}\n${check}`, environment).ended;
    expect(await old.ended).to.include({ code: 0 });
    expect(code).to.equal(0);
    for (const name of [
      'used_memory',
      'aof_current_size',
      'plant_store_plants',
      'process_resident_memory_bytes',
    ])
      expect(out).to.match(new RegExp(`^${name}[: ]\\d`, 'm'));
    expect(out).to.contain('[{"name":"Fern"}]').and.to.contain('plant_store_build_info{version="');
  });
});

describeOwnRedis('Redis at appendfsync always', (startRedis) => {
  const path = temporaryDirectory();

  it('exits if its file cannot grow, and starts again with all acknowledged writes', async function () {
    needsLocalServers(this, await startRedis(), 'a limit of file sizes');
    const port = await freePort();
    const start = (limit: string) => {
      const server = `exec redis-server --port ${port} --bind 127.0.0.1 --dir ${path('.')} --save '' --appendonly yes --appendfsync always`;
      // With SIGXFSZ ignored, the write fails as on a full disk.
      const child = spawn('bash', ['-c', `trap '' XFSZ; ulimit -f ${limit}; ${server}`], { stdio: 'ignore' });
      const forgotten = endWithProcess(() => child.kill('SIGKILL'));
      return { child, ended: once(child, 'exit').finally(forgotten) };
    };
    const url = `redis://127.0.0.1:${port}`;
    const full = start('16');
    const client = await connectedClient(url);
    let acknowledged = 0;
    await (async () => {
      for (;;) {
        await client.xadd('plants', '*', 'data', 'x'.repeat(500));
        acknowledged++;
      }
    })().catch(() => {});
    disconnect(client);
    expect(await full.ended).to.deep.equal([1, null]);
    expect(acknowledged).to.be.greaterThan(5);

    const again = start('unlimited');
    const later = await connectedClient(url);
    expect(await later.xlen('plants')).to.equal(acknowledged);
    disconnect(later);
    again.child.kill('SIGKILL');
    await again.ended;
  });
});
