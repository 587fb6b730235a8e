import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { openRedisEventStore } from '../../src/adapters/redis';
import { BEGINNING, type Head } from '../../src/event-sourcing';
import { theBlock } from '../docs/samples';
import { compiled } from '../support/compiled';
import { compiledCli } from '../support/service-process';
import { encoded, ferns, plantStreamOf } from '../support/given';
import { type RedisServer, describeRedis } from '../support/redis';
import { freePort } from '../support/ports';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { THIS_MACHINE } from '../world/network';
import { startSentinel } from '../world/processes';
import { usersOfPages } from './users';

const KEY = 'plant-store:{39}:plants/alice:events';
const DONE = { code: 0 };

describeRedis(
  'The commands of docs/runbook.md, as the Redis users that it names,',
  (startRedis) => {
    const run = compiledCli();
    const path = temporaryDirectory();
    let redis: RedisServer;
    let settings: Record<string, string>;
    let head: Head;

    beforeEach(async () => {
      redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
      for (const line of [...usersOfPages(), theBlock('redis repair').trim()])
        await redis.admin.call('ACL', ...line.replace('>…', '>secret').split(' ').slice(1));
      for (const name of ['backups', 'shims']) fs.mkdirSync(path(name));
      const limits = { LIMIT: '20', CHECK_PORT: String(await freePort()) };
      settings = { EVENT_STORE: 'redis', REDIS_URL: urlOf('operator'), ...as('repair'), ...limits };
      head = BEGINNING;
      await write(3);
    });

    /** Appends events to the stream of `alice`, as one commit. */
    async function write(count: number): Promise<void> {
      const { store, close } = await openRedisEventStore({ url: redis.url });
      const events = encoded(...ferns(head.version + count).slice(head.version));
      const result = await store.append(
        plantStreamOf('alice'),
        head,
        `commit-${head.version}`,
        events,
      );
      close();
      if (result.status !== 'appended') expect.fail(result.status);
      head = result.head;
    }

    const dataOf = async () => ((await redis.admin.config('GET', 'dir')) as [string, string])[1];
    const backups = () => fs.readdirSync(path('backups')).map((name) => path(`backups/${name}`));
    const urlOf = (user: string) => `redis://plant-store-${user}:secret@127.0.0.1:${redis.port}`;
    const as = (user: string) => ({ OPERATOR_URL: urlOf(user) });

    /** Runs the commands of a page with the addresses and paths of this test. */
    function follow(kind: string, more: Record<string, string> = {}) {
      const here: Record<string, string> = {
        'deploy/redis.sh': resolve('deploy/redis.sh'),
        '127.0.0.1:6379': `127.0.0.1:${redis.port}`,
        'redis://old.example.com': '"$REDIS_URL"',
        'redis://new.example.com': '"$NEW_REDIS_URL"',
        '/backups/plants-20261124T020000Z.rdb': backups()[0] ?? '',
        ' /backups': ` ${path('backups')}`,
        '/var/lib/redis/restored': path('restored'),
        '/etc/redis/redis.conf': path('redis.conf'),
        systemctl: 'echo',
        'plants.ndjson.gz': path('plants.ndjson.gz'),
      };
      const blocks = ['environment', ...kind.split(' and ')].map((each) => theBlock(`sh ${each}`));
      let commands = blocks.join('');
      for (const [page, own] of Object.entries(here)) commands = commands.replaceAll(page, own);
      // An operator types PID into the shell, whose commands do not get it unless it is exported.
      const start = `trap 'kill $(jobs -p) 2>/dev/null' EXIT\nexport -n PID\n`;
      return run(start + commands, { ...settings, ...more }).ended;
    }

    /** Runs the script, which must stop with a sentence. */
    async function stops(
      task: string,
      sentence: string,
      more: Record<string, string> = {},
    ): Promise<void> {
      const command = `PATH="${path('shims')}:$PATH" sh ${resolve('deploy/redis.sh')} ${task}`;
      const { code, error } = await run(command, { ...settings, ...as('backup'), ...more }).ended;
      expect(`${code}\n${error}`).to.match(new RegExp(`^1\\n.*^redis\\.sh: .*${sentence}`, 'ms'));
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

    it('back up a running Redis, restore the backup to a new folder, and let Redis use that', async () => {
      const old = aBackup();
      expect(await follow('backup', { BACKUP_KEEP: '1' })).to.include(DONE);
      expect(backups()).to.have.length(1).and.not.include(old);
      expect(fs.statSync(backups()[0]!).mode & 0o777).to.equal(0o600);
      await write(5);
      expect(await follow('restore')).to.include(DONE);
      expect(await redis.admin.xlen(KEY)).to.equal(8);

      const restored = await startRedis('--dir', path('restored'), '--appendonly', 'yes');
      expect(await restored.admin.xlen(KEY)).to.equal(3);

      fs.writeFileSync(path('redis.conf'), 'appendonly yes\ndir /var/lib/redis\n');
      expect(await follow('restore switch')).to.include(DONE);
      expect(fs.readFileSync(path('redis.conf'), 'utf8')).to.equal(
        `appendonly yes\ndir ${path('restored')}\n`,
      );
    });

    it('restore a copy of the append-only file, even if it ends within an append', async () => {
      fs.cpSync(await dataOf(), path('copy'), { recursive: true });
      const tear = `printf '*3\\r\\n$4\\r\\nXA' >>$(ls ${path('copy')}/appendonlydir/*.incr.aof)`;
      const restored = run(`${tear}; sh deploy/redis.sh ${restore(path('copy'))}`, settings).ended;
      expect(await restored).to.include(DONE);
    });

    const COPYING = [
      'mkdir',
      'redis-check-rdb',
      'redis-server',
      'plant-store',
      'redis-cli SHUTDOWN',
      'mv',
    ];
    for (const [task, steps] of Object.entries({
      restore: ['cp'],
      backup: ['redis-cli --rdb', 'sync'],
    }))
      for (const step of [...COPYING, ...steps])
        it(`keep earlier backups and leave nothing behind if ${step} fails during ${task}`, async () => {
          const before = aBackup();
          const [tool = '', ...args] = step.split(' ');
          const once = path('shims/once');
          fs.writeFileSync(once, '');
          shim(
            tool,
            `if [[ -e ${once} && " $* " == *" ${args.join(' ')}"* ]]; then rm ${once}; exit 1; fi`,
          );
          await stops(task === 'backup' ? backup() : restore(before), '', { BACKUP_KEEP: '1' });
          expect(fs.existsSync(once)).to.equal(false);
          expect(backups()).to.deep.equal([before]);
          expect(fs.readdirSync(path('.')).join()).not.to.contain('restored');
        });

    it('refuse a user without the right, a different store, a damaged backup, and an existing target', async () => {
      await stops(backup(), 'OPERATOR_URL is missing\\n$', { OPERATOR_URL: '' });
      await stops(backup(), 'no copy', as('admin'));
      await stops(backup(), 'events verify refuses', { REDIS_STORE_ID: '1'.repeat(32) });
      expect(backups()).to.deep.equal([]);
      const file = aBackup();
      await stops(`restore ${file} ${path('shims')}`, 'exists already');
      // Another Redis, which accepts any password, answers before the one that verifies finds its
      // port taken.
      shim('redis-server', 'sleep 1');
      await stops(restore(file), 'cannot load', { CHECK_PORT: String(redis.port) });
      expect(await redis.admin.ping()).to.equal('PONG');
      const bytes = fs.readFileSync(file);
      fs.writeFileSync(file, bytes.fill(bytes[200]! ^ 1, 200, 201));
      await stops(restore(file), 'damaged or not whole');
    });

    for (const kinds of ['backup export and restore import', 'migrate'])
      it(`move all events to another Redis: ${kinds}`, async () => {
        const { url, admin } = await startRedis();
        expect(await follow(kinds, { BACKUP: path('.'), NEW_REDIS_URL: url })).to.include(DONE);
        expect(await admin.xrange(KEY, '-', '+')).to.deep.equal(
          await redis.admin.xrange(KEY, '-', '+'),
        );
      });

    /** The versions under each name of the stream: the newest one first. */
    async function versions(): Promise<readonly string[]> {
      const names = [KEY, ...(await redis.admin.keys('aside:*')).sort().reverse()];
      const entries = await Promise.all(names.map((name) => redis.admin.xrange(name, '-', '+')));
      return entries.map((each) => each.map(([id]) => id.replace('-0', '')).join(' '));
    }

    it('find the key of a stream that cannot be read, and repair it from a backup, even repeatedly', async () => {
      const copy = await startRedis();
      await copy.admin.restore(KEY, 0, await redis.admin.dumpBuffer(KEY));
      await copy.admin.zadd('plant-store:{39}:index', 1, 'plants/alice');
      await redis.admin.xdel(KEY, '2-0');
      await redis.admin.hset(`${KEY.slice(0, -6)}snapshot`, 'any', '');
      const found = await follow('repair find');
      expect(found).to.include({ code: 1 });
      expect(found.out).to.contain(
        `plants/alice: entry 3-0 found, expected version 2 (key ${KEY})\n`,
      );

      shim('date', 'if [[ -e ${0%/*}/again ]]; then echo second; else echo first; fi; exit');
      const restore = (EXPORT: string) =>
        follow('repair restore', { COPY: copy.url, EXPORT: path(EXPORT), PATH });
      const PATH = `${path('shims')}:${compiled()}/bin:${process.env.PATH!}`;
      expect(await restore('first')).to.include(DONE);
      expect(await versions()).to.deep.equal(['1 2 3', '1 3']);
      expect(await redis.admin.exists(`${KEY.slice(0, -6)}snapshot`)).to.equal(0);
      await redis.admin.xdel(KEY, '1-0');
      expect((await restore('another')).error).to.contain(
        `aside:first:${KEY.slice(12)} exists already`,
      );
      expect(await versions()).to.deep.equal(['2 3', '1 3']);
      fs.writeFileSync(path('shims/again'), '');
      expect(await restore('second')).to.include(DONE);
      expect(await versions()).to.deep.equal(['1 2 3', '2 3', '1 3']);
    });

    it('repair a stream with entries of another program by a copy of its good part, even repeatedly', async () => {
      const PATH = `${path('shims')}:${compiled()}/bin:${process.env.PATH!}`;
      const mend = async (time: string) => {
        shim('date', `echo ${time}; exit`);
        await redis.admin.xadd(KEY, '*', 'of', 'another program');
        return follow('repair mend', { PATH });
      };
      expect(await mend('first')).to.include(DONE);
      expect((await mend('first')).error).to.contain(
        'aside:first:{39}:plants/alice:events exists already',
      );
      expect(await mend('second')).to.include(DONE);
      expect((await versions()).map((each) => each.slice(0, 5))).to.deep.equal([
        '1 2 3',
        '1 2 3',
        '1 2 3',
      ]);
      await write(1);
    });

    it('erase a user, even from the append-only file', async () => {
      const grep = `grep -rq Fern ${await dataOf()}/appendonlydir`;
      expect(await follow('erase', { ERASED: 'alice' })).to.include(DONE);
      expect(await run(grep).ended).to.include({ code: 0 });
      expect(await follow('erase file')).to.include(DONE);
      expect(await run(grep).ended).to.include({ code: 1 });
    });

    it('check the data of a Redis whose disk was full', async () => {
      expect((await follow('disk verify')).out).to.contain('1 stream');
      await redis.admin.xdel(KEY, '2-0');
      expect(await follow('disk verify')).to.include({ code: 1 });
    });

    it('fail over with a Sentinel, which writes the new roles into the configuration files', async () => {
      const start = (name: string, line = '') => {
        fs.writeFileSync(path(name), line);
        return startRedis(path(name));
      };
      const primary = await start('old.conf');
      const replica = await start('new.conf', `replicaof ${primary.peer.join(' ')}\n`);
      const times = { 'down-after-milliseconds': 60_000 };
      const sentinel = await startSentinel(path('sentinel'), THIS_MACHINE, primary, { times });
      try {
        const SENTINEL_URL = `redis://127.0.0.1:${sentinel.port}`;
        // It knows the replica ten seconds later, at the latest.
        await until(async () => (await follow('failover sentinel', { SENTINEL_URL })).code === 0);
        const fileHas = (name: string, text: string) =>
          fs.readFileSync(path(name), 'utf8').includes(text);
        await until(() => fileHas('old.conf', `replicaof ${replica.peer.join(' ')}`));
        await until(() => !fileHas('new.conf', 'replicaof'));
      } finally {
        await sentinel.stop();
      }
    });

    it('find requests in the log, replace an instance with a different version, and show its sizing', async () => {
      const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
      const NEW = compiled();
      const instance = { PORT, ADMIN_PORT, NEW, AUTH_TOKENS: 'alice:a-token-of-alice' };
      // Its port is in use for longer than the next one takes to start.
      const old = { ...settings, ...instance, SHUTDOWN_NOTICE_MS: '3000' };
      const before = run(`exec node ${join(NEW, 'dist/main.js')}`, old);
      await until(() => before.out.includes(' listens on '));
      const ask = (token: string) =>
        fetch(`http://127.0.0.1:${PORT}/plants`, { headers: { Authorization: `Bearer ${token}` } });
      for (let times = 0; times < 3; times++) await ask('a-token-of-alice');
      const ID = (await ask('unknown')).headers.get('x-request-id')!;
      await until(() => before.out.includes(ID));
      fs.writeFileSync(path('log'), before.out);
      const found = (await follow('find and flood', { LOG: path('log'), ID })).out
        .trim()
        .split('\n');
      const [failed, ...counts] = found.map((line) => line.trim());
      expect(JSON.parse(failed!)).to.include({
        requestId: ID,
        status: 401,
        reason: 'token_unknown',
      });
      const alice = createHash('sha256').update('alice').digest('hex').slice(0, 12);
      expect(counts).to.deep.equal(['1 "reason":"token_unknown"', `3 "user":"${alice}"`]);

      const after = await follow('upgrade instance and sizing', {
        ...instance,
        PID: String(before.child.pid),
      });
      expect(after).to.include(DONE);
      expect(await before.ended).to.include(DONE);
      expect(after.out)
        .to.match(/"status":"ready"[^]*used_memory:[^]*aof_current_size:/)
        .and.contain('plant_store_cache_limit_bytes ');
    });
  },
);
