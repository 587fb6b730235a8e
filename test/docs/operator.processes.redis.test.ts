import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { compiled } from '../support/compiled';
import { compiledCli } from '../support/compiled-cli';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { theBlock } from './blocks';
import { play } from './session';

const KEY = 'plant-store:{39}:plants/alice:events';

describeOwnRedis('The commands of docs/command-line.md and docs/runbook.md', (startRedis) => {
  const run = compiledCli();
  const path = temporaryDirectory();
  let redis: RedisServer;

  beforeEach(async () => {
    redis = await startRedis('--appendonly', 'yes');
  });

  const settings = (url = redis.url) => ({ EVENT_STORE: 'redis', REDIS_URL: url, HOME: path('.') });

  /** Runs a block of a page, which must succeed. Resolves with its standard output. */
  async function follow(kind: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, out, error } = await run(theBlock(kind), { ...settings(), ...environment }).ended;
    expect(code, error).to.equal(0);
    return out;
  }

  /** Runs `plant-store` with these arguments, by default on the server of the test. */
  async function plants(args: string, url = redis.url): Promise<string> {
    const { code, out, error } = await run(`plant-store ${args}`, settings(url)).ended;
    expect(code, error).to.equal(0);
    return out;
  }
  async function grow(count: number, url = redis.url): Promise<void> {
    for (let id = 1; id <= count; id++) await plants(`create --user alice --id ${id} --name Fern`, url);
  }

  it('have the outputs that the sessions of the command line show', async () => {
    const { ended } = run('command -v plant-store', {});
    const bin = (await ended).out.trim().replace(/\/plant-store$/, '');
    const env = { ...settings(), PATH: `${bin}:${process.env.PATH}` };
    const cwd = path('.');
    play('console session', (script) =>
      execFileSync('bash', ['-c', `exec 2>&1\n${script}`], { env, cwd, encoding: 'utf8' }),
    );
  });

  it('move all events to another Redis, by a pipe or by a file', async () => {
    await grow(2);
    for (const [exporting, importing] of [
      ['sh backup export', 'sh restore import'],
      ['sh migrate'],
    ] as const) {
      const target = await startRedis();
      const urls = { BACKUP: path('.'), NEW_REDIS_URL: target.url };
      const text = [exporting, importing ?? []].flat().map(theBlock).join('');
      const script = `cd ${path('.')}\n${text}`
        .replace('redis://old.example.com', redis.url)
        .replace('redis://new.example.com', target.url);
      const { code, error } = await run(script, { ...settings(), ...urls }).ended;
      expect(code, error).to.equal(0);
      expect(await target.admin.xrange(KEY, '-', '+')).to.deep.equal(await redis.admin.xrange(KEY, '-', '+'));
    }
  });

  describe('repair a stream', () => {
    let repairer: Readonly<Record<string, string>>;
    beforeEach(async () => {
      await grow(3);
      expect(await follow('sh repair key')).to.equal(`${KEY}\n`);
      const [, ...user] = theBlock('redis repair').trim().replace('>…', '>secret').split(' ');
      await redis.admin.call('ACL', ...user);
      repairer = { OPERATOR_URL: `redis://plant-store-repair:secret@127.0.0.1:${redis.port}` };
    });

    it('from a backup, if entries are missing', async () => {
      const copy = await startRedis();
      await copy.admin.restore(KEY, 0, await redis.admin.dumpBuffer(KEY));
      await copy.admin.zadd('plant-store:{39}:index', 1, 'plants/alice');
      await redis.admin.xdel(KEY, '2-0');
      await follow('sh repair restore', { ...repairer, COPY: copy.url, EXPORT: path('alice.ndjson') });
      expect(await redis.admin.xlen(KEY)).to.equal(3);
      expect(await redis.admin.xlen(KEY.replace('plant-store', 'aside'))).to.equal(2);
    });

    it('by a copy of its good part, if another program added entries', async () => {
      await redis.admin.xadd(KEY, '4-0', 'of', 'another program');
      const words = `redis-cli -e -u "$OPERATOR_URL" ${theBlock('redis mend').replaceAll('\n', ' ')}`;
      // In a shell, unlike in redis-cli, braces have a meaning of their own.
      const quoted = words.replaceAll(/ ((?:plant-store|aside):\S+)/g, " '$1'");
      const { code, error } = await run(quoted, { ...settings(), ...repairer }).ended;
      expect(code, error).to.equal(0);
      await follow('sh disk verify');
      await plants('create --user alice --id 4 --name Fern');
      expect(await redis.admin.xlen(KEY)).to.equal(4);
    });
  });

  it('erase a user', async () => {
    await grow(1);
    await follow('sh erase', { ERASED: 'alice' });
    expect(await redis.admin.exists(KEY)).to.equal(0);
  });

  it('replace an instance by one of another version, which is ready, and show its size', async () => {
    const [port, admin] = [await freePort(), await freePort()];
    const instance = {
      ...settings(),
      PORT: String(port),
      ADMIN_PORT: String(admin),
      AUTH_TOKENS: 'alice:a-token-of-alice',
    };
    const NEW = compiled();
    const main = join(NEW, 'dist/main.js');
    const before = run(`exec node ${main}`, instance);
    await run(`until curl -fs http://127.0.0.1:${port}/health/ready; do sleep 0.1; done`).ended;
    const script = `${theBlock('sh upgrade instance')}${theBlock('sh sizing').replaceAll('$ADMIN_PORT', String(admin))}kill %1\n`;
    const { code, out, error } = await run(script, { ...instance, NEW, PID: String(before.child.pid) }).ended;
    expect(code, error).to.equal(0);
    expect((await before.ended).code).to.equal(0);
    expect(out)
      .to.contain('"status":"ready"')
      .and.match(/used_memory:\d+/);
    expect(out)
      .to.match(/^aof_current_size:\d+/m)
      .and.match(/^plant_store_cache_limit_bytes \d+/m);
  });
});
