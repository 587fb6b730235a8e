import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { compiled } from '../support/compiled';
import { compiledCli } from '../support/compiled-cli';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { play, theBlock } from './samples';

const KEY = 'plant-store:{39}:plants/alice:events';

describeOwnRedis('The commands of docs/command-line.md and docs/runbook.md', (startRedis) => {
  const bash = compiledCli();
  const path = temporaryDirectory();
  let redis: RedisServer;
  let settings: Readonly<Record<string, string>>;
  beforeEach(async () => {
    redis = await startRedis('--appendonly', 'yes');
    settings = { EVENT_STORE: 'redis', REDIS_URL: redis.url, HOME: path('.') };
  });

  /** Runs commands, which must succeed. Resolves with their standard output. */
  async function run(script: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, out, error } = await bash(script, { ...settings, ...environment }).ended;
    expect(code, error).to.equal(0);
    return out;
  }
  const follow = (kind: string, environment?: Readonly<Record<string, string>>) =>
    run(theBlock(kind), environment);
  const create = (...ids: number[]) =>
    run(`for id in ${ids.join(' ')}; do plant-store create --user alice --id $id --name Fern; done`);

  it('have the outputs that the sessions of the command line show', async () => {
    const bin = (await run('dirname $(command -v plant-store)')).trim();
    const env = { ...settings, PATH: `${bin}:${process.env.PATH}` };
    const options = { env, cwd: path('.'), encoding: 'utf8' } as const;
    play('console session', (script) => execFileSync('bash', ['-c', `exec 2>&1\n${script}`], options));
  });

  for (const kinds of [['sh backup export', 'sh restore import'], ['sh migrate']])
    it(`move all events to another Redis: ${kinds.join(' and ')}`, async () => {
      await create(1, 2);
      const target = await startRedis();
      const script = `cd ${path('.')}\n${kinds.map(theBlock).join('')}`
        .replace('redis://old.example.com', redis.url)
        .replace('redis://new.example.com', target.url);
      await run(script, { BACKUP: path('.'), NEW_REDIS_URL: target.url });
      expect(await target.admin.xrange(KEY, '-', '+')).to.deep.equal(await redis.admin.xrange(KEY, '-', '+'));
    });

  describe('repair a stream', () => {
    let OPERATOR_URL: string;
    beforeEach(async () => {
      await create(1, 2, 3);
      expect(await follow('sh repair key')).to.equal(`${KEY}\n`);
      const [, ...user] = theBlock('redis repair').trim().replace('>…', '>secret').split(' ');
      await redis.admin.call('ACL', ...user);
      OPERATOR_URL = `redis://plant-store-repair:secret@127.0.0.1:${redis.port}`;
    });

    it('from a backup, if entries are missing', async () => {
      const copy = await startRedis();
      await copy.admin.restore(KEY, 0, await redis.admin.dumpBuffer(KEY));
      await copy.admin.zadd('plant-store:{39}:index', 1, 'plants/alice');
      await redis.admin.xdel(KEY, '2-0');
      await follow('sh repair restore', { OPERATOR_URL, COPY: copy.url, EXPORT: path('alice.ndjson') });
      expect(await redis.admin.xlen(KEY)).to.equal(3);
      expect(await redis.admin.xlen(KEY.replace('plant-store', 'aside'))).to.equal(2);
    });

    it('by a copy of its good part, if another program added entries', async () => {
      await redis.admin.xadd(KEY, '4-0', 'of', 'another program');
      const words = `redis-cli -e -u "$OPERATOR_URL" ${theBlock('redis mend').replaceAll('\n', ' ')}`;
      // In a shell, unlike in redis-cli, braces have a meaning of their own.
      await run(words.replaceAll(/ ((?:plant-store|aside):\S+)/g, " '$1'"), { OPERATOR_URL });
      await follow('sh disk verify');
      await create(4);
      expect(await redis.admin.xlen(KEY)).to.equal(4);
    });
  });

  it('erase a user', async () => {
    await create(1);
    await follow('sh erase', { ERASED: 'alice' });
    expect(await redis.admin.exists(KEY)).to.equal(0);
  });

  it('replace an instance by one of another version, which is ready, and show its size', async () => {
    const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
    const instance = { ...settings, PORT, ADMIN_PORT, AUTH_TOKENS: 'alice:a-token-of-alice' };
    const NEW = compiled();
    const before = bash(`exec node ${join(NEW, 'dist/main.js')}`, instance);
    await run(`until curl -fs http://127.0.0.1:${PORT}/health/ready; do sleep 0.1; done`);
    const sizing = theBlock('sh sizing').replaceAll('$ADMIN_PORT', ADMIN_PORT);
    const script = `${theBlock('sh upgrade instance')}${sizing}kill %1\n`;
    const out = await run(script, { ...instance, NEW, PID: String(before.child.pid) });
    expect((await before.ended).code).to.equal(0);
    expect(out).to.contain('"status":"ready"');
    for (const size of [/used_memory:\d+/, /^aof_current_size:\d+/m, /^plant_store_cache_limit_bytes \d+/m])
      expect(out).to.match(size);
  });
});
