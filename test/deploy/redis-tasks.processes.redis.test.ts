import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { openRedisEventStore } from '../../src/adapters/redis';
import { BEGINNING, type Head } from '../../src/event-sourcing';
import { theBlock } from '../docs/samples';
import { compiledCli } from '../support/compiled-cli';
import { created, encoded, plantsOf } from '../support/given';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

const KEY = 'plant-store:{39}:plants/alice:events';

describeOwnRedis('The tasks of docs/runbook.md on Redis, as its users', (startRedis) => {
  const run = compiledCli();
  const path = temporaryDirectory();
  let redis: RedisServer;
  let limits: Record<string, string>;
  let head: Head;

  const dataOf = async () => ((await redis.admin.config('GET', 'dir')) as [string, string])[1];

  beforeEach(async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    for (const line of theBlock('redis tasks').trim().split('\n'))
      await redis.admin.call('ACL', ...line.replace('>…', '>secret').split(' ').slice(1));
    for (const name of ['backups', 'shims']) fs.mkdirSync(path(name));
    limits = { LIMIT: '20', CHECK_PORT: String(await freePort()) };
    head = BEGINNING;
    await write(20);
  });

  /** Appends events to the stream of `alice`, one per commit. */
  async function write(count: number): Promise<void> {
    const { store, close } = await openRedisEventStore({ url: redis.url });
    for (let i = 0; i < count; i++) {
      const event = encoded(created(head.version, 'Fern'));
      const result = await store.append(plantsOf('alice'), head, `commit-${head.version}`, event);
      if (result.status !== 'appended') expect.fail(result.status);
      head = result.head;
    }
    close();
  }

  const backups = () => fs.readdirSync(path('backups')).map((name) => path(`backups/${name}`));
  const as = (user: string, password = 'secret') => ({
    OPERATOR_URL: `redis://plant-store-${user}:${password}@127.0.0.1:${redis.port}`,
  });

  /** Runs the commands of a page with the paths and the port of this test. Resolves with the exit code. */
  async function follow(kind: string, instead: Record<string, string> = {}): Promise<string | number> {
    const here: Record<string, string> = {
      'deploy/redis.sh': resolve('deploy/redis.sh'),
      '127.0.0.1:6379': `127.0.0.1:${redis.port}`,
      '/backups/plants-20261124T020000Z.rdb': backups()[0] ?? '',
      ' /backups': ` ${path('backups')}`,
      '/var/lib/redis/restored': path('restored'),
      ...instead,
    };
    let commands = theBlock(`sh ${kind}`);
    for (const [page, own] of Object.entries(here)) commands = commands.replaceAll(page, own);
    return (await run(commands, limits).ended).code;
  }

  /** Runs the script, which must stop with a sentence. */
  async function stops(task: string, sentence: string, more: Record<string, string> = {}): Promise<void> {
    const command = `PATH="${path('shims')}:$PATH" sh ${resolve('deploy/redis.sh')} ${task}`;
    const { code, error } = await run(command, { ...limits, ...as('backup'), ...more }).ended;
    expect(error)
      .to.match(/^redis\.sh: /m)
      .and.contain(sentence);
    expect(code).to.equal(1);
  }
  const backup = () => `backup ${path('backups')}`;
  const restore = (from: string) => `restore ${from} ${path('restored')}`;

  /** Runs `first` before each call of a tool. */
  function shim(tool: string, first: string): void {
    const script = `#!/bin/bash\nPATH=\${PATH#*:}\n${first}\nexec ${tool} "$@"\n`;
    fs.writeFileSync(path(`shims/${tool}`), script, { mode: 0o755 });
  }

  /** Faster than the task, because nothing verifies it. */
  function aBackup(): string {
    const file = path('backups/plants-20260101T000000Z.rdb');
    execFileSync('redis-cli', ['-u', redis.url, '--rdb', file], { stdio: 'ignore' });
    return file;
  }

  it('back up a running Redis, restore it beside, and let Redis use it', async () => {
    aBackup();
    limits = { ...limits, BACKUP_KEEP: '1' };
    expect(await follow('backup')).to.equal(0);
    expect(backups()).to.have.length(1).and.not.include(path('backups/plants-20260101T000000Z.rdb'));
    await write(5);
    expect(await follow('restore')).to.equal(0);
    expect(await redis.admin.xlen(KEY)).to.equal(25);

    const restored = await startRedis('--dir', path('restored'), '--appendonly', 'yes');
    expect(await restored.admin.xlen(KEY)).to.equal(20);

    fs.writeFileSync(path('redis.conf'), 'appendonly yes\ndir /var/lib/redis\n');
    const here = { systemctl: 'echo', '/etc/redis/redis.conf': path('redis.conf') };
    expect(await follow('restore switch', here)).to.equal(0);
    expect(fs.readFileSync(path('redis.conf'), 'utf8')).to.equal(`appendonly yes\ndir ${path('restored')}\n`);
  });

  it('restore a copy of the append-only file, which may end within an append', async () => {
    fs.cpSync(await dataOf(), path('copy'), { recursive: true });
    const tear = `printf '*3\\r\\n$4\\r\\nXA' >>$(ls ${path('copy')}/appendonlydir/*.incr.aof)`;
    const restored = run(`${tear}; sh deploy/redis.sh ${restore(path('copy'))}`, limits).ended;
    expect(await restored).to.include({ code: 0 });
  });

  const COPYING = ['mkdir', 'redis-check-rdb', 'redis-server', 'plant-store', 'redis-cli SHUTDOWN', 'mv'];
  for (const [task, steps] of Object.entries({ restore: ['cp'], backup: ['redis-cli --rdb', 'sync'] }))
    for (const step of [...COPYING, ...steps])
      it(`keep the earlier backups and make nothing if ${step} fails in ${task}`, async () => {
        const before = aBackup();
        const [tool = '', ...args] = step.split(' ');
        const once = path('shims/once');
        fs.writeFileSync(once, '');
        shim(tool, `if [[ -e ${once} && " $* " == *" ${args.join(' ')}"* ]]; then rm ${once}; exit 1; fi`);
        await stops(task === 'backup' ? backup() : restore(before), '', { BACKUP_KEEP: '1' });
        expect(fs.existsSync(once)).to.equal(false);
        expect(backups()).to.deep.equal([before]);
        expect(fs.readdirSync(path('.')).join()).not.to.contain('restored');
      });

  it('refuse a backup whose end is missing, or with a changed byte', async () => {
    const file = aBackup();
    const bytes = fs.readFileSync(file);
    for (const damaged of [bytes.subarray(0, 200), bytes.fill(bytes[200]! ^ 1, 200, 201)]) {
      fs.writeFileSync(file, damaged);
      await stops(restore(file), 'damaged or not whole');
      expect(fs.existsSync(path('restored'))).to.equal(false);
    }
  });

  it('refuse a user without the right, another store, a history that cannot be read, and what exists', async () => {
    for (const user of [as('admin'), as('backup', 'wrong')]) await stops(backup(), 'no copy', user);
    await stops(backup(), 'events verify refuses', { REDIS_STORE_ID: '1'.repeat(32) });
    await redis.admin.xadd(KEY, '21-0', 'a', 'b');
    await stops(backup(), 'events verify refuses');
    expect(backups()).to.deep.equal([]);
    await stops(`restore ${aBackup()} ${path('shims')}`, 'exists already');
    // Another Redis, which accepts any password, answers before the one that verifies finds its port taken.
    shim('redis-server', 'sleep 1');
    await stops(restore(aBackup()), 'cannot load', { CHECK_PORT: String(redis.port) });
    expect(await redis.admin.ping()).to.equal('PONG');
  });

  it('rewrite the append-only file without what was deleted', async () => {
    const data = await dataOf();
    const isStored = async () =>
      (await run(`grep -rq 'an erased user' ${data}/appendonlydir`).ended).code === 0;
    await redis.admin.set('key', 'an erased user');
    await redis.admin.del('key');
    expect(await isStored()).to.equal(true);
    expect(await follow('erase file')).to.equal(0);
    expect(await isStored()).to.equal(false);
  });

  it('make a replica the primary with all writes, or leave the primary as it is', async () => {
    const replica = await startRedis('--replicaof', '127.0.0.1', String(redis.port));
    await until(async () => (await redis.admin.info('replication')).includes('state=online'));
    await replica.freeze();
    await write(1);
    expect(await follow('failover redis', { 'TIMEOUT 10000': 'TIMEOUT 100' })).to.equal(1);
    await replica.thaw();
    expect(await follow('failover redis')).to.equal(0);
    expect([await replica.admin.xlen(KEY), (await replica.admin.role())[0]]).to.deep.equal([21, 'master']);
  });
});
