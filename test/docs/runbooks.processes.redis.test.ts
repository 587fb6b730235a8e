import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { openRedisEventStore } from '../../src/adapters/redis';
import { BEGINNING, type EventStore, type Head } from '../../src/event-sourcing';
import { compiledCli } from '../support/compiled-cli';
import { encoded, created, plantsOf } from '../support/given';
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
  let port: number;
  let forgotten: () => void;

  beforeEach(async function () {
    needsLocalServers(this, await startRedis(), 'a data directory');
    port = await freePort();
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
    // Not at REDIS_URL, which may be the address of another one now.
    await bash(`redis-cli -p ${port} SHUTDOWN NOSAVE`, environment).ended;
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

  async function withStore<T>(use: (store: EventStore) => Promise<T>): Promise<T> {
    const opened = await openRedisEventStore({ url: environment['REDIS_URL']! });
    return use(opened.store).finally(() => opened.close());
  }

  /** Appends events to the streams of `alice` and `bob`, one per commit. */
  async function write(heads: Map<string, Head>, count: number): Promise<void> {
    await withStore(async (store) => {
      for (const user of ['alice', 'bob'])
        for (let number = 0; number < count; number++) {
          const head = heads.get(user) ?? BEGINNING;
          const { version } = head;
          const result = await store.append(
            plantsOf(user),
            head,
            `${user}-${version}`,
            encoded(created(version, 'Fern')),
          );
          if (result.status !== 'appended') expect.fail(result.status);
          heads.set(user, result.head);
        }
    });
  }

  const histories = () =>
    withStore((store) => Promise.all(['alice', 'bob'].map((user) => store.read(plantsOf(user), BEGINNING))));

  it('moves an export to a new, empty Redis', async () => {
    const heads = new Map<string, Head>();
    await write(heads, 20);
    const saved = await histories();
    await run(commands('backup export'));
    const empty = await startRedis();
    environment['NEW_REDIS_URL'] = empty.url;
    await run(commands('restore import'));
    environment['REDIS_URL'] = empty.url;
    expect(await histories()).to.deep.equal(saved);
  });

  /** The address of Redis for a user with the rights of the page. */
  async function repairing(): Promise<string> {
    const url = new URL(environment['REDIS_URL']!);
    const [, , ...rule] = theBlock('redis repair').text.trim().replace('>…', '>secret').split(' ');
    const admin = await connectedClient(url.href);
    await admin.acl('SETUSER', ...(rule as [string]));
    disconnect(admin);
    return Object.assign(url, { username: 'plant-store-repair', password: 'secret' }).href;
  }

  it('takes a damaged history from a backup, and keeps the damaged one', async () => {
    const heads = new Map<string, Head>();
    await write(heads, 5);
    const saved = await histories();
    const copy = await startRedis();
    const url = environment['REDIS_URL']!;
    await run(`plant-store events export | REDIS_URL=${copy.url} plant-store events import`);
    await run(`redis-cli -u ${url} XDEL plant-store:{39}:plants/alice:events 2-0`);
    Object.assign(environment, {
      COPY: copy.url,
      OPERATOR_URL: await repairing(),
      EXPORT: `${environment['BACKUP']}/alice`,
    });
    const failing = {
      EXPORT: '/nowhere/alice',
      OPERATOR_URL: 'redis://127.0.0.1:1',
      COPY: 'redis://127.0.0.1:1',
    };
    for (const [name, value] of Object.entries(failing)) {
      const { code } = await bash(commands('repair restore'), { ...environment, [name]: value }).ended;
      expect(code, name).to.not.equal(0);
      await run(`test $(redis-cli -u ${url} XLEN plant-store:{39}:plants/alice:events) = 4; rm -f "$EXPORT"`);
    }
    await run(commands('repair restore'));
    expect(await histories()).to.deep.equal(saved);
    await run(`test $(redis-cli -u ${url} XLEN aside:{39}:plants/alice:events) = 4`);
  });

  it('removes entries at the end of a stream, with no more rights than those of the page', async () => {
    await write(new Map<string, Head>(), 4);
    const OPERATOR_URL = await repairing();
    const mend = `redis-cli -e -u "$OPERATOR_URL" ${theBlock('redis mend').text}`;
    expect(await bash(mend, { ...environment, OPERATOR_URL }).ended).to.deep.include({ code: 0 });
    await run(
      `test $(redis-cli -u ${environment['REDIS_URL']} XLEN plant-store:{39}:plants/alice:events) = 3`,
    );
    await run(`test $(redis-cli -u ${environment['REDIS_URL']} XLEN aside:{39}:plants/alice:events) = 4`);
  });

  it('erases a user', async () => {
    await write(new Map(), 3);
    Object.assign(environment, { ERASED: 'alice', STORE_TIMEOUT_MS: '100' });
    await run(commands('erase'));
    const [alice, bob] = await histories();
    expect([alice, bob].map((read) => (read?.status === 'read' ? read.events.length : 0))).to.deep.equal([
      0, 3,
    ]);
  });

  it('finds what takes the space of a disk, and checks every history', async () => {
    await write(new Map(), 3);
    await run(commands('disk usage'));
    await run(commands('disk verify'));
  });

  it('reads the sizes of a running system', async () => {
    const ADMIN_PORT = String(await freePort());
    const service = { PORT: '0', ADMIN_PORT, AUTH_TOKENS: `alice:${tokenOf('alice')}`, LOG_LEVEL: 'info' };
    const running = bash('exec plant-store serve', { ...environment, ...service });
    await until(() => running.said.out.includes('listens on'));
    const { out } = await bash(`set -e\n${commands('sizing')}`, { ...environment, ADMIN_PORT }).ended;
    for (const name of [
      'used_memory',
      'aof_current_size',
      'plant_store_plants',
      'process_resident_memory_bytes',
    ])
      expect(out).to.match(new RegExp(`^${name}[: ]\\d`, 'm'));
    running.child.kill('SIGTERM');
    expect(await running.ended).to.include({ code: 0 });
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
