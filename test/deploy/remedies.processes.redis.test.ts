import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { FindingName } from '../../src/adapters/redis/server-checks';
import { type Opened, openedPerTest } from '../adapters/redis/opened';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { compiledCli } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { theBlock } from '../docs/samples';
import { usersOfPages } from './users';

const ADMIN = 'redis-cli -e -u "$ADMIN_URL"';
const GRANT = `${ADMIN} ACL SETUSER plant-store +xadd && ${ADMIN} CONFIG REWRITE`;
const ERASE = 'plant-store events erase --user alice --yes';
/** With the settings that the log names. */
const SET = `for setting in "\${SETTINGS[@]}"; do ${ADMIN} CONFIG SET $setting || exit; done && ${ADMIN} CONFIG REWRITE`;

describeOwnRedis('The remedy that the log and docs/operations.md name for a finding', (startRedis) => {
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

  for (const [finding, provoke, remedy] of [
    ['evicts', () => set('maxmemory-policy', 'allkeys-lru'), SET],
    ['late_fsync', () => set('appendfsync', 'everysec'), SET],
    ['no_append_only_file', () => set('appendonly', 'no'), theBlock('sh append-only')],
    ['stale_reads', () => startRedis('--replicaof', ...redis.peer), SET],
    ['missing_right', () => redis.admin.acl('SETUSER', 'plant-store', '-xadd'), GRANT],
    [
      'info_forbidden',
      () => redis.admin.acl('SETUSER', 'plant-store', '-info'),
      GRANT.replace('xadd', 'info'),
    ],
    [
      'out_of_memory',
      () => set('maxmemory', '1'),
      `${ADMIN} CONFIG SET maxmemory 1gb && ${ADMIN} CONFIG REWRITE`,
    ],
    ['out_of_memory', fillMemory, ERASE],
  ] as const satisfies readonly (readonly [FindingName, () => Promise<unknown>, string])[])
    it(`ends it, also after a restart of Redis: ${finding}, ${remedy === ERASE ? 'erase' : 'correct it'}`, async () => {
      await provoke();
      await until(() => opened.status().findings[finding]);
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
      const isOver = () => until(() => !opened.status().findings[finding]);
      await isOver();
      await redis.kill9();
      await redis.start();
      await until(() => opened.status().reads);
      await isOver();
    });

  /** Until only an erasure is accepted. */
  async function fillMemory(): Promise<void> {
    const used = Number(/used_memory:(\d+)/.exec(await redis.admin.info('memory'))![1]);
    await redis.admin.xadd('plant-store:{39}:plants/alice:events', '2-0', 'type', 'x'.repeat(3e6));
    await set('maxmemory', String(used + 2e6));
  }
});
