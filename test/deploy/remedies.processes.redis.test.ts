import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { RedisOptions } from '../../src/adapters/redis';
import type { FindingName } from '../../src/adapters/redis/server-checks';
import { type Opened, openedPerTest } from '../adapters/redis/opened';
import { type RedisServer, describeRedis } from '../support/redis';
import { compiledCli } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { theBlock } from '../docs/samples';
import { usersOfPages } from './users';

const ADMIN = 'redis-cli -e -u "$ADMIN_URL"';
const GRANT = `${ADMIN} ACL SETUSER plant-store +xadd && ${ADMIN} CONFIG REWRITE`;
const ERASE = 'plant-store events erase --user alice --yes';
/** Applies the settings that the log names. */
const SET = `for setting in "\${SETTINGS[@]}"; do ${ADMIN} CONFIG SET $setting || exit; done
  ${ADMIN} CONFIG REWRITE`;

describeRedis('The remedy that the log and docs/operations.md name for a finding', (startRedis) => {
  const open = openedPerTest();
  const run = compiledCli();
  const path = temporaryDirectory();
  let redis: RedisServer;
  let opened: Opened;

  beforeEach(async () => {
    writeFileSync(path('redis.conf'), 'appendonly yes\nappendfsync always\n');
    redis = await startRedis(path('redis.conf'));
    for (const line of [...usersOfPages(), 'ACL SETUSER admin on >… ~* &* +@all'])
      await redis.admin.call('ACL', ...line.replace('>…', '>secret').split(' ').slice(1));
    await redis.admin.config('REWRITE');
    opened = await open({ url: urlOf('plant-store'), examineEveryMs: 50 });
    await opened.append();
  });
  const urlOf = (user: string) => redis.url.replace('//', `//${user}:secret@`);
  const set = (...setting: [string, string]) => redis.admin.config('SET', ...setting);

  const grant = (right: string) => GRANT.replace('xadd', right);
  const take = (right: string) => redis.admin.acl('SETUSER', 'plant-store', `-${right}`);
  /** A restart of the instance, with the address or the setting that the finding asks for. */
  const reopen = async (options: Partial<RedisOptions> = {}) => {
    opened = await open({ url: urlOf('plant-store'), examineEveryMs: 50, ...options });
  };
  /** Changes the configuration file, and restarts Redis. */
  const reconfigure = async (line: string, instead: string) => {
    const text = readFileSync(path('redis.conf'), 'utf8');
    writeFileSync(
      path('redis.conf'),
      text.includes(line) ? text.replace(line, instead) : `${text}${instead}\n`,
    );
    await redis.kill9();
    await redis.start();
  };
  const failOver = async () => {
    other = await startRedis('--replicaof', ...redis.peer);
    await until(async () => (await other.admin.exists('plant-store:id')) === 1);
    await other.admin.replicaof('NO', 'ONE');
    await redis.admin.replicaof(...other.peer);
  };
  const losesReplica = async () => {
    other = await startRedis('--replicaof', ...redis.peer);
    await until(async () => (await redis.admin.info('replication')).includes('state=online'));
    await set('min-replicas-to-write', '1');
    await redis.admin.config('REWRITE');
    await other.kill9();
  };
  const cannotSave = async () => {
    const [, folder] = (await redis.admin.config('GET', 'dir')) as [string, string];
    // Redis cannot rename its snapshot to the name of a folder that is not empty.
    mkdirSync((blocked = `${folder}/dump.rdb/full`), { recursive: true });
    await set('save', '1 1');
    await opened.append('bob');
  };
  let other: RedisServer;
  let blocked: string;

  for (const [finding, provoke, remedy] of [
    ['evicts', () => set('maxmemory-policy', 'allkeys-lru'), SET],
    ['late_fsync', () => set('appendfsync', 'everysec'), SET],
    ['fsync_pauses', () => set('no-appendfsync-on-rewrite', 'yes'), SET],
    ['writable_replica', () => set('replica-read-only', 'no'), SET],
    ['no_append_only_file', () => set('appendonly', 'no'), theBlock('sh append-only')],
    ['stale_reads', () => startRedis('--replicaof', ...redis.peer), SET],
    ['missing_right', () => take('xadd'), GRANT],
    ['info_forbidden', () => take('info'), grant('info')],
    ['unknown_fsync', () => take('config|get'), grant("'config|get'")],
    [
      'out_of_memory',
      () => set('maxmemory', '1'),
      `${ADMIN} CONFIG SET maxmemory 1gb && ${ADMIN} CONFIG REWRITE`,
    ],
    ['out_of_memory', fillMemory, ERASE],
    ['disk_error', cannotSave, () => rmSync(dirname(blocked), { recursive: true })],
    ['replicas_missing', losesReplica, () => other.start()],
    ['replica', failOver, () => reopen({ url: other.url })],
    ['another_store', () => redis.admin.set('plant-store:id', 'buckets-64 other'), () => reopen()],
    [
      'another_layout',
      () => redis.admin.set('plant-store:id', 'of another program'),
      () => reopen({ keyPrefix: 'plant-store:own' }),
    ],
    [
      'missing_database',
      async () => {
        await redis.admin.acl('SETUSER', 'plant-store', '+select');
        await redis.admin.config('REWRITE');
        await reconfigure('databases 16', 'databases 32');
        await reopen({ url: `${urlOf('plant-store')}/20` });
        await reconfigure('databases 32', 'databases 16');
      },
      () => reconfigure('databases 16', 'databases 32'),
    ],
  ] as const satisfies readonly (readonly [
    FindingName,
    () => Promise<unknown>,
    string | (() => unknown),
  ])[])
    it(`ends it, even after a restart: ${finding}, by ${remedy === ERASE ? 'erasing' : 'correcting'}`, async () => {
      await provoke();
      await until(() => opened.status().findings[finding]);
      if (typeof remedy === 'string') await follow(remedy);
      else await remedy();
      const isOver = () => until(() => !opened.status().findings[finding]);
      await isOver();
      await redis.kill9();
      await redis.start();
      await until(() => opened.status().reads);
      await isOver();
    });

  /** Runs these commands, with the settings that the log names. */
  async function follow(remedy: string): Promise<void> {
    const settings = [...opened.log.join('\n').matchAll(/CONFIG SET ([a-z-]+ \w+)/g)].map(
      ([, each]) => each,
    );
    if (remedy === SET) expect(settings).to.have.length.above(0);
    const SETTINGS = `SETTINGS=(${settings.map((each) => `'${each!}'`).join(' ')})\n`;
    const environment = {
      EVENT_STORE: 'redis',
      REDIS_URL: urlOf('plant-store-operator'),
      ADMIN_URL: urlOf('admin'),
    };
    const { code, error } = await run(`${SETTINGS}${remedy}`, environment).ended;
    expect(code, error).to.equal(0);
  }

  /** Leaves so little memory that Redis accepts nothing but an erasure. */
  async function fillMemory(): Promise<void> {
    const used = Number(/used_memory:(\d+)/.exec(await redis.admin.info('memory'))![1]);
    await redis.admin.xadd('plant-store:{39}:plants/alice:events', '2-0', 'type', 'x'.repeat(3e6));
    await set('maxmemory', String(used + 2e6));
  }
});
