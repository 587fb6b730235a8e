import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { BEGINNING, OutcomeUnknown, START } from '../../../src/event-sourcing';
import { HttpClient } from '../../support/client';
import { instancesPerTest } from '../../support/instance';
import { type RedisServer, describeOwnRedis, formCluster } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';
import { type Opened, openedPerTest, succeeds } from './opened';

const PAGE = readFileSync('docs/operations.md', 'utf8');
/** The rules of `ACL SETUSER` for the service on the page, with a password that this test knows: `secret`. */
const SERVICE_RULES = /^ACL SETUSER plant-store (.+)$/m.exec(PAGE)![1]!.replace(/>\S+/, '>secret');
/** Those in addition: the texts of code in the row of the table that begins with these words. */
function additionalRules(row: string): string[] {
  const [, cell] = new RegExp(`^\\| ${row}.* \\| (.+) \\|$`, 'm').exec(PAGE)!;
  return [...cell!.matchAll(/`(.+?)`/g)].map(([, rules]) => rules!.replaceAll('\\|', '|'));
}
const [ofDatabase, ofCluster] = additionalRules('a database other than 0') as [string, string];
const without = (right: string) => SERVICE_RULES.replace(new RegExp(` \\+${right}(?= |\\))`), '');

async function useAsService({ append, snapshots, stream }: Opened): Promise<void> {
  const { name } = stream();
  await append();
  const head = { version: 1, commit: 'ours' };
  expect((await stream().read(head)).status).to.equal('read');
  expect(await snapshots.save(name, { format: 'f', head, chunks: ['a', 'b'] })).to.equal(true);
  expect(await snapshots.load(name)).to.include({ format: 'f' });
}

async function useAsProjection({ index, checkpoints }: Opened): Promise<void> {
  expect((await index.changed(39, START, 10)).status).to.equal('read');
  const [saved, removed] = [new Map([['39', 'one']]), new Map([['39', undefined]])];
  await checkpoints('tags').save({ key: '39', expected: undefined, values: saved });
  expect(await checkpoints('tags').load(['39'])).to.deep.equal(['one']);
  for await (const key of checkpoints('tags').keys('39/')) throw new Error(key);
  await checkpoints('tags').save({ key: '39', expected: 'one', values: removed });
}

async function useAsOperator({ index, stream }: Opened): Promise<void> {
  expect(await index.head(stream().name)).to.include({ version: 1 });
  expect(await index.erase(stream().name)).to.equal(1);
}

describeOwnRedis('A Redis user with the rights of docs/operations.md', (startRedis) => {
  const open = openedPerTest();
  const start = instancesPerTest();
  let redis: RedisServer;
  let url: string;
  beforeEach(async () => {
    redis = await startRedis();
    url = redis.url.replace('//', '//plant-store:secret@');
    await grant(SERVICE_RULES);
  });

  const grant = (rules: string, admin: Redis = redis.admin) =>
    admin.call('ACL', 'SETUSER', 'plant-store', 'reset', ...rules.split(' '));
  const denied = async ({ admin }: RedisServer = redis) => (await admin.acl('LOG')) as unknown[];
  /** The commands of these rules that were not executed. */
  async function unused(rules: string): Promise<string[]> {
    const stats = await redis.admin.info('commandstats');
    const run = [...stats.matchAll(/^cmdstat_(\S+):calls=[1-9]/gm)].map(([, command]) => command);
    return [...rules.matchAll(/\+([a-z|]+)/g)].map(([, name]) => name!).filter((name) => !run.includes(name));
  }

  it('can do all that a service does, and uses every right', async () => {
    await redis.admin.config('RESETSTAT');
    await useAsService(await open({ url }));
    const waiting = await open({ url, waitReplicas: 1, timeoutMs: 100 });
    expect(await rejection(waiting.append('bob'))).to.be.instanceOf(OutcomeUnknown);
    expect([await unused(SERVICE_RULES), await denied()]).to.deep.equal([[], []]);
  });

  for (const [row, use] of [
    ['a program with a', useAsProjection],
    ['operators', useAsOperator],
  ] as const)
    it(`can do all of the row "${row}" with its additional rights, and uses them`, async () => {
      const rules = additionalRules(row).join(' ');
      await grant(`${SERVICE_RULES} ${rules}`);
      await redis.admin.config('RESETSTAT');
      const opened = await open({ url });
      await useAsService(opened);
      await use(opened);
      // The command line removes the checkpoints of an erased stream, as a projection does.
      const elsewhere = row === 'operators' ? ['zscore', 'hkeys', 'hdel'] : [];
      expect([await unused(rules), await denied()]).to.deep.equal([elsewhere, []]);
    });

  it('can use another database, or a Cluster, with the additional right, which is named without it', async () => {
    const node = await startRedis('--cluster-enabled', 'yes');
    await formCluster([node]);
    const uses = [
      [redis, ofDatabase, { url: `${url}/1` }],
      [node, ofCluster, { url, clusterNodes: [{ host: node.host, port: node.port }] }],
    ] as const;
    const use = async ([server, rules, options]: (typeof uses)[number]) => {
      await grant(SERVICE_RULES, server.admin);
      const refused = await open(options);
      expect(refused.log.join()).to.match(/Redis cannot be reached: .*NOPERM.*(?:select|cluster)/);
      await grant(`${SERVICE_RULES} ${rules}`, server.admin);
      await server.admin.acl('LOG', 'RESET');
      await useAsService(await open(options));
      expect(await denied(server)).to.deep.equal([]);
    };
    await Promise.all(uses.map(use));
  });

  it('needs each of them: one that is taken away is found by name and key, and found again when it is granted', async () => {
    // An id is created only where writes can reach the replicas.
    await open({ url });
    const opened = await open({ url, examineEveryMs: 50, waitReplicas: 1 });
    // The text that names each right.
    const named = {
      ...{ info: 'to INFO in scripts', get: 'to GET( and SET)? on the key plant-store:id' },
      ...{
        eval: 'to call scripts .*eval',
        evalsha: 'to call scripts .*evalsha',
        wait: 'scripts or WAIT .*wait',
      },
      ...{
        xrange: '}:rights/probe:events',
        xadd: '}:rights/probe:events',
        zadd: '}:index',
        zrange: '}:index',
      },
      ...{ hmget: '}:rights/probe:snapshot:', unlink: '}:rights/probe:snapshot:', hset: ':snapshot:draft:' },
      ...{ pexpire: ':snapshot:draft:', persist: ':snapshot:draft:', rename: ':snapshot:draft:' },
    };
    for (const [right, words] of Object.entries(named)) {
      opened.log.length = 0;
      await grant(without(right));
      await until(() => opened.log.some((line) => line.includes('its user lacks the right')));
      const line = opened.log.find((each) => each.includes('its user lacks the right'));
      expect(line, right)
        .to.match(new RegExp(words))
        .and.to.match(new RegExp(`\\b${right}\\b`, 'i'));
      expect(opened.status().writes, right).to.equal(false);
      await grant(SERVICE_RULES);
      await until(() => !opened.status().findings.missing_right);
      expect(opened.log.join()).not.to.match(/restore|emptied/);
    }
  });

  it('finds the missing right by the first call that is refused', async () => {
    const opened = await open({ url, examineEveryMs: 600_000 });
    await useAsService(opened);
    await grant(without('xadd'));
    const failure = await rejection(opened.append('bob'));
    expect(failure).to.include({ name: 'StoreUnavailable', reason: 'store_refused' });
    await until(() => opened.status().findings.missing_right);
    // As a command prints it.
    expect(await rejection(opened.append('carol')))
      .to.have.property('message')
      .that.includes('XADD on');
  });

  for (const [what, rules, words, reads, writes] of [
    ['XRANGE', without('xrange'), 'XRANGE on the key plant-store:{', false, false],
    // Appends do not need it.
    ['INFO', without('info'), 'INFO', false, true],
    [
      'its keys',
      SERVICE_RULES.replace('~plant-store:*', '~other:*'),
      'on the key plant-store:',
      false,
      false,
    ],
    ['XADD', without('xadd'), 'XADD on the key plant-store:{', true, false],
  ] as const)
    it(`that loses the right to ${what} with its connections fails what needs it, and why is named`, async () => {
      const opened = await open({ url });
      await useAsService(opened);
      await grant(rules);
      await redis.admin.client('KILL', 'USER', 'plant-store');
      const found = () => opened.log.find((line) => line.includes('lacks the right to'));
      await until(() => found() !== undefined && opened.status().reads);
      expect(found()).to.include(words);
      expect(await succeeds(opened.stream().read(BEGINNING))).to.equal(reads);
      expect(await succeeds(opened.append('bob'))).to.equal(writes);
      expect(opened.status()).to.deep.include({ writes: false, refusals: ['missing_right'] });
      expect(opened.log.join()).not.to.match(/restore the data|emptied/);
    });

  for (const [right, status, list, refusal] of [
    ['xrange', 503, 503, 'reads_refused'],
    ['xadd', 200, 200, 'writes_refused'],
  ] as const)
    it(`that loses ${right} makes the service ${status === 200 ? 'ready without writes' : 'not ready'}, and why is said`, async () => {
      const [service] = await start(1, { REDIS_URL: url });
      const client = new HttpClient(service!.url);
      await client.plants([1, 'fern']);
      await grant(without(right));
      expect((await client.create(2, 'palm')).status).to.equal(503);
      const ready = () => client.get('/health/ready');
      await until(async () => (await ready()).text.includes('missing_right'));
      expect([(await ready()).status, (await client.list()).status]).to.deep.equal([status, list]);
      expect((await ready()).text).to.include(refusal);
    });
});
