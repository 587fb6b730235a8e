import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { openRedisEventStore } from '../../src/adapters/redis';
import { BEGINNING, type Head } from '../../src/event-sourcing';
import { theBlock } from '../docs/shell';
import { compiledCli } from '../support/compiled-cli';
import { created, encoded, plantsOf } from '../support/given';
import { describeOwnRedis, disconnect, needsLocalServers, plainClient } from '../support/redis';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

const SCRIPT = resolve('deploy/redis.sh');

/** The rules of the Redis users for these tasks, as docs/operations.md has them. */
const USERS = theBlock('redis tasks')
  .text.trim()
  .split('\n')
  .map((line) => line.replace('ACL SETUSER', 'user').replace('>…', '>secret'));

describeOwnRedis('deploy/redis.sh', (startRedis) => {
  const bash = compiledCli();
  const path = temporaryDirectory();
  const heads = new Map<string, Head>();
  let port: number;
  let environment: Record<string, string>;
  let forgotten: () => void;

  const as = (user: string) => `redis://${user}:secret@127.0.0.1:${port}`;
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  const backups = () => readdirSync(path('backups')).map((name) => path(join('backups', name)));

  beforeEach(async function () {
    needsLocalServers(this, await startRedis(), 'a data directory');
    port = await freePort();
    heads.clear();
    for (const name of ['data', 'backups', 'shims']) mkdirSync(path(name));
    const lines = [
      ...[`port ${port}`, 'bind 127.0.0.1', `dir ${path('data')}`, 'daemonize yes', 'loglevel warning'],
      ...[
        'repl-diskless-sync-delay 0',
        'appendonly yes',
        'appendfsync always',
        `logfile ${path('redis.log')}`,
        ...USERS,
      ],
    ];
    writeFileSync(path('redis.conf'), `${lines.join('\n')}\n`);
    environment = { LIMIT: '20', CHECK_PORT: String(await freePort()) };
    forgotten = endWithProcess(stop);
    start();
    await write(20);
  });
  afterEach(() => {
    stop();
    forgotten();
  });

  function start(): void {
    execFileSync('redis-server', [path('redis.conf')]);
    execFileSync('bash', ['-c', `until [[ $(redis-cli -p ${port} PING) == PONG ]]; do sleep 0.05; done`]);
  }

  function stop(): void {
    // An error: it was down before.
    execFileSync('bash', ['-c', `redis-cli -p ${port} SHUTDOWN NOSAVE; true`], { stdio: 'ignore' });
  }

  /** Appends events to the stream of `alice`, one per commit. */
  async function write(count: number): Promise<void> {
    const { store, close } = await openRedisEventStore({
      url: `redis://127.0.0.1:${port}`,
      timeoutMs: 30_000,
    });
    for (let i = 0; i < count; i++) {
      const head = heads.get('alice') ?? BEGINNING;
      const result = await store.append(
        plantsOf('alice'),
        head,
        `commit-${head.version}`,
        encoded(created(head.version, 'Fern')),
      );
      if (result.status !== 'appended') expect.fail(result.status);
      heads.set('alice', result.head);
    }
    close();
  }

  async function plants(): Promise<number> {
    const { store, close } = await openRedisEventStore({
      url: `redis://127.0.0.1:${port}`,
    });
    const read = await store.read(plantsOf('alice'), BEGINNING);
    close();
    return read.status === 'read' ? read.events.length : 0;
  }

  /** Redis serves these plants, also after a restart. */
  async function keeps(count: number): Promise<void> {
    expect(await plants()).to.equal(count);
    stop();
    start();
    expect(await plants()).to.equal(count);
  }

  /** The commands of a page, with the paths and the port of this test. */
  const page = (kind: string) =>
    theBlock(`sh ${kind}`)
      .text.replace('deploy/redis.sh', SCRIPT)
      .replace('127.0.0.1:6379', `127.0.0.1:${port}`)
      .replace(/\/backups\/\S+/, () => backups()[0]!)
      .replace(' /backups', ` ${path('backups')}`)
      .replace('/var/lib/redis/restored', path('restored'))
      .replace(/\/etc\/redis\/redis\.conf|"\$CONF"/, path('redis.conf'));

  async function follows(kind: string): Promise<void> {
    const { code, error } = await bash(page(kind), environment).ended;
    expect(code, error).to.equal(0);
  }

  const run = (task: string, more: Readonly<Record<string, string>> = {}) =>
    bash(`PATH="${path('shims')}:$PATH" sh ${SCRIPT} ${task}`, { ...environment, ...more }).ended;

  async function works(task: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, out, error } = await run(task, more);
    expect(code, error).to.equal(0);
    return out;
  }

  async function stops(task: string, sentence: string, more: Readonly<Record<string, string>> = {}) {
    const { code, error } = await run(task, more);
    expect(error)
      .to.match(/^redis\.sh: /m)
      .and.to.contain(sentence);
    expect(code).to.equal(1);
  }

  /** The first call of this tool with these arguments fails, without doing anything. */
  function failOnce(step: string): void {
    const [tool = '', ...args] = step.split(' ');
    const marker = path('shims/fail');
    writeFileSync(marker, '');
    shim(tool, `if [[ -e ${marker} && " $* " == *" ${args.join(' ')}"* ]]; then rm ${marker}; exit 1; fi`);
  }

  /** Runs `first` before each call of a tool. */
  function shim(tool: string, first: string): void {
    const real = execFileSync('bash', ['-c', `command -v ${tool} || echo plant-store`], { encoding: 'utf8' });
    const script = `#!/bin/bash\nPATH=\${PATH#*:}\n${first}\nexec ${real.trim()} "$@"\n`;
    writeFileSync(path(`shims/${tool}`), script);
    chmodSync(path(`shims/${tool}`), 0o755);
  }

  const happened = () => !existsSync(path('shims/fail'));
  const asBackup = () => ({ OPERATOR_URL: as('plant-store-backup') });
  const asAdmin = () => ({ OPERATOR_URL: as('plant-store-admin') });

  /** Faster than the task, because nothing verifies it. */
  function aBackup(): string {
    const file = path('backups/plants-20260101T000000Z.rdb');
    execFileSync('redis-cli', ['-p', String(port), '--rdb', file], { stdio: 'ignore' });
    return file;
  }

  async function aRestoredBackup(): Promise<void> {
    await works(`restore ${aBackup()} ${path('restored')}`);
    await write(5);
  }

  it('restores a backup of a live Redis, keeps the data before it, and later writes', async () => {
    await follows('backup');
    await write(5);
    await follows('restore');
    expect(await plants()).to.equal(25);
    await follows('restore switch');
    await keeps(20);
    heads.set('alice', { version: 20, commit: 'commit-19' });
    await write(1);
    await keeps(21);

    // And back to the data before.
    await works(`switch ${path('data')} ${path('redis.conf')}`, asAdmin());
    await keeps(25);
  });

  it('notices that the Redis which verifies ends between two looks at its process', async () => {
    const backup = aBackup();
    const answered = path('shims/answered');
    const isPing = `"$*" == *:${environment['CHECK_PORT']}*PING`;
    shim('redis-cli', `if [[ ${isPing} && $(redis-cli "$@") == PONG ]]; then touch ${answered}; fi`);
    // The shell awaits the process between the two looks of one test.
    const end =
      'kill -KILL "${BASH_REMATCH[1]}"; until [[ ! -d /proc/${BASH_REMATCH[1]} ]]; do sleep 0.02; done';
    shim('grep', `if [[ -e ${answered} && $* =~ /proc/([0-9]+)/status ]]; then ${end}; fi`);
    await stops(`restore ${backup} ${path('restored')}`, 'Redis cannot load the backup');
  });

  it('restores a copy of the append-only file, which may end within an append', async () => {
    execFileSync('cp', ['-R', path('data'), path('copy')]);
    const [incremental] = readdirSync(path('copy/appendonlydir')).filter((name) =>
      name.endsWith('.incr.aof'),
    );
    appendFileSync(path(`copy/appendonlydir/${incremental}`), '*3\r\n$4\r\nXA');
    await works(`restore ${path('copy')} ${path('restored')}`);
    await works(`switch ${path('restored')} ${path('redis.conf')}`, asAdmin());
    await keeps(20);
  });

  it('keeps as many backups as BACKUP_KEEP, the newest ones', async () => {
    const old = aBackup();
    copyFileSync(old, path('backups/plants-20251231T000000Z.rdb'));
    await works(`backup ${path('backups')}`, { ...asBackup(), BACKUP_KEEP: '2' });
    expect(backups()).to.have.length(2).and.to.include(old);
  });

  it('syncs the backup and its folder to disk, and not what other programs have written', async () => {
    shim('sync', `echo "$*" >>${path('synced')}`);
    await works(`backup ${path('backups')}`, asBackup());
    const [backup] = backups();
    expect(readFileSync(path('synced'), 'utf8')).to.equal(`${backup} ${path('backups')}\n`);
  });

  describe('if a step fails,', () => {
    const RESTORE = [
      'mkdir',
      'cp',
      'redis-check-rdb',
      'redis-server',
      'redis-cli SHUTDOWN',
      'plant-store',
      'mv',
    ];
    for (const step of [...RESTORE, 'redis-cli PING', 'rm', 'tail']) {
      it(`${step}: restore makes no data directory, or a whole one`, async () => {
        const file = aBackup();
        const before = digest(file);
        failOnce(step);
        const { code, error } = await run(`restore ${file} ${path('restored')}`);
        if (RESTORE.includes(step)) {
          expect(happened()).to.equal(true);
          expect(code).to.equal(1);
          expect(error).to.match(/^redis\.sh: /m);
        }
        expect(existsSync(path('restored'))).to.equal(code === 0);
        expect(existsSync(path('restored.draft'))).to.equal(false);
        expect(digest(file)).to.equal(before);
        await keeps(20);
      });
    }

    for (const step of [
      ...['mkdir', 'redis-cli --rdb', 'redis-check-rdb', 'redis-server', 'plant-store', 'mv', 'sync'],
    ]) {
      it(`${step}: backup leaves the earlier ones, and no other`, async () => {
        const before = digest(aBackup());
        failOnce(step);
        await stops(`backup ${path('backups')}`, '', { ...asBackup(), BACKUP_KEEP: '1' });
        expect(happened()).to.equal(true);
        expect(backups().map(digest)).to.deep.equal([before]);
        await keeps(20);
      });
    }

    for (const step of [
      ...['grep', 'redis-cli INFO server', 'redis-cli INFO persistence', 'redis-cli SHUTDOWN'],
      ...['cp', 'sed s|', 'rm', 'cat', 'redis-server', 'redis-cli CONFIG GET dir', 'redis-cli PING'],
    ]) {
      it(`${step}: switch loses no acknowledged write`, async () => {
        await aRestoredBackup();
        failOnce(step);
        const { code, error } = await run(`switch ${path('restored')} ${path('redis.conf')}`, asAdmin());
        expect(happened()).to.equal(true);
        if (code !== 0) expect(error).to.match(/^redis\.sh: /m);
        const switched = readFileSync(path('redis.conf'), 'utf8').includes(`dir ${path('restored')}`);
        if (code === 0) expect(switched).to.equal(true);
        // Redis may be down, but not with the other data.
        if (step === 'redis-cli PING') start();
        await keeps(switched ? 20 : 25);
        if (switched) await works(`switch ${path('data')} ${path('redis.conf')}`, asAdmin());
        await keeps(25);
      });
    }

    for (const step of ['redis-cli INFO persistence', 'redis-cli BGREWRITEAOF']) {
      it(`${step}: rewrite says so`, async () => {
        failOnce(step);
        await stops('rewrite', '', asAdmin());
        await keeps(20);
      });
    }
  });

  describe('stops with a sentence and changes nothing', () => {
    for (const [what, damage, sentence] of [
      ['whose end is missing', (file: string) => truncateSync(file, 200), 'damaged or not whole'],
      ['of no bytes', (file: string) => truncateSync(file, 0), 'damaged or not whole'],
      [
        'with a changed byte',
        (file: string) => {
          const bytes = readFileSync(file);
          bytes[bytes.length >> 1]! ^= 1;
          writeFileSync(file, bytes);
        },
        'damaged or not whole',
      ],
    ] as const) {
      it(`at a backup ${what}`, async () => {
        const file = aBackup();
        damage(file);
        await stops(`restore ${file} ${path('restored')}`, sentence);
        expect(existsSync(path('restored'))).to.equal(false);
      });
    }

    it('at an append-only file without the end of its base', async () => {
      const file = aBackup();
      await works(`restore ${file} ${path('copy')}`);
      truncateSync(path('copy/appendonlydir/appendonly.aof.1.base.rdb'), 200);
      await stops(`restore ${path('copy')} ${path('restored')}`, 'cannot load the backup');
    });

    it('at a history that cannot be read', async () => {
      execFileSync('redis-cli', [
        '-p',
        String(port),
        'XADD',
        'plant-store:{20}:plants/bob:events',
        '1-0',
        'a',
        'b',
      ]);
      await stops(`backup ${path('backups')}`, 'events verify refuses', asBackup());
      expect(backups()).to.deep.equal([]);
    });

    it('at the data of another store than REDIS_STORE_ID', async () => {
      await stops(`backup ${path('backups')}`, 'events verify refuses', {
        ...asBackup(),
        REDIS_STORE_ID: '1'.repeat(32),
      });
    });

    it('at a data directory that exists', async () => {
      const file = aBackup();
      await stops(`restore ${file} ${path('data')}`, 'exists already');
      await keeps(20);
    });

    it('if another Redis has CHECK_PORT', async () => {
      const file = aBackup();
      // The other one, which accepts any password, answers before Redis finds its port taken.
      shim('redis-server', 'sleep 3');
      await stops(`restore ${file} ${path('restored')}`, 'cannot load', { CHECK_PORT: String(port) });
      await keeps(20);
    });

    it('if the user has no right for the task, or the wrong password', async () => {
      await aRestoredBackup();
      const wrong = as('plant-store-admin').replace('secret', 'wrong');
      for (const OPERATOR_URL of [as('plant-store-backup'), wrong])
        for (const task of [`switch ${path('restored')} ${path('redis.conf')}`, 'rewrite', 'failover'])
          await stops(task, 'Redis', { OPERATOR_URL });
      await stops(`backup ${path('backups')}`, 'no copy', asAdmin());
      await keeps(25);
    });

    it('if Redis may not be stopped by its user', async () => {
      await aRestoredBackup();
      execFileSync('redis-cli', ['-p', String(port), 'ACL', 'SETUSER', 'plant-store-admin', '-shutdown']);
      await stops(`switch ${path('restored')} ${path('redis.conf')}`, 'was not stopped', asAdmin());
      await keeps(25);
    });

    it('if Redis is started again at once, or does not end', async () => {
      await aRestoredBackup();
      const task = `switch ${path('restored')} ${path('redis.conf')}`;
      await stops(task, 'still runs', { ...asAdmin(), STOP: 'true', LIMIT: '1' });
      const again = `redis-cli -p ${port} SHUTDOWN NOSAVE; redis-server ${path('redis.conf')}; sleep 1`;
      await stops(task, 'started again', { ...asAdmin(), STOP: again });
      await keeps(25);
    });

    it('if Redis has no append-only file, or another configuration file', async () => {
      await aRestoredBackup();
      copyFileSync(path('redis.conf'), path('other.conf'));
      await stops(`switch ${path('restored')} ${path('other.conf')}`, 'does not run with', asAdmin());
      execFileSync('redis-cli', ['-p', String(port), 'CONFIG', 'SET', 'appendonly', 'no']);
      await stops(`switch ${path('restored')} ${path('redis.conf')}`, 'would be lost', asAdmin());
    });
  });

  it('waits until Redis has loaded its data', async () => {
    stop();
    // 0.2 s for each command: longer than a PING waits, which Redis answers once it has loaded all.
    appendFileSync(path('redis.conf'), 'key-load-delay 200000\nloading-process-events-interval-bytes 1024\n');
    await follows('disk restart');
    expect(execFileSync('redis-cli', ['-p', String(port), 'PING'], { encoding: 'utf8' })).to.equal('PONG\n');
  });

  it('rewrites the append-only file without what was deleted, after a rewrite that runs', async () => {
    const files = () =>
      readdirSync(path('data/appendonlydir'))
        .map((name) => readFileSync(path(`data/appendonlydir/${name}`), 'latin1'))
        .join();
    const client = plainClient(`redis://127.0.0.1:${port}`);
    await client.connect();
    await client.set('erased', 'x'.repeat(1000));
    await client.config('SET', 'rdb-key-save-delay', '500000');
    await client.bgrewriteaof();
    await client.del('erased');
    await client.config('SET', 'rdb-key-save-delay', '0');
    disconnect(client);
    expect(files()).to.contain('erased');
    await follows('erase file');
    expect(files()).to.not.contain('erased');
    await keeps(20);
  });

  it('makes a replica the primary with all writes, or leaves the primary as it is', async () => {
    const replica = await startRedis('--replicaof', '127.0.0.1', String(port));
    const online = () =>
      execFileSync('redis-cli', ['-p', String(port), 'INFO', 'replication'], { encoding: 'utf8' });
    await until(() => online().includes('state=online'));
    await replica.freeze();
    await write(1);
    await stops('failover', 'the primary is the same as before', { ...asAdmin(), LIMIT: '20' });
    await replica.thaw();
    expect(await plants()).to.equal(21);
    await follows('failover redis');
    expect(await replica.admin.xlen('plant-store:{39}:plants/alice:events')).to.equal(21);
    expect((await replica.admin.role())[0]).to.equal('master');
  });
});
