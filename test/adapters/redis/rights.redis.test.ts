import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { BEGINNING, START } from '../../../src/event-sourcing';
import { COMMANDS } from '../../../src/adapters/redis/rights';
import { type RedisServer, describeRedis, formCluster } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { succeeds, until } from '../../support/until';
import { type Opened, openedPerTest } from './opened';

const OPERATIONS_PAGE = readFileSync('docs/operations.md', 'utf8');
/**
 * The rules of `ACL SETUSER` for the service on the page, with a password that this test knows:
 * `secret`.
 */
const SERVICE_RULES = /^ACL SETUSER plant-store (.+)$/m
  .exec(OPERATIONS_PAGE)![1]!
  .replace(/>\S+/, '>secret');
/** Those in addition: the texts of code in the row of the table that begins with these words. */
function additionalRules(row: string): string[] {
  const [, cell] = new RegExp(`^\\| ${row}.* \\| (.+) \\|$`, 'm').exec(OPERATIONS_PAGE)!;
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

async function useAsProjection({ index, checkpoints, stream }: Opened): Promise<void> {
  expect((await index.changed(39, START, 10)).status).to.equal('read');
  const { name } = stream();
  const tags = checkpoints('tags');
  const write = { bucket: 39, position: { epoch: 'e', sequence: 1 } };
  const head = { version: 1, commit: 'ours' };
  await tags.save({ ...write, expectedRevision: 0, heads: new Map([[name, head]]) });
  expect(await tags.load(39, [name])).to.deep.include({
    revision: 1,
    heads: new Map([[name, head]]),
  });
  await tags.save({ ...write, expectedRevision: 1, heads: new Map([[name, undefined]]) });
  for await (const left of tags.streams(39)) throw new Error(left);
}

async function useAsOperator({ index, stream }: Opened): Promise<void> {
  expect(await index.head(stream().name)).to.include({ version: 1 });
  expect(await index.erase(stream().name)).to.equal(1);
}

describe('The rights that a service tries', () => {
  it('are exactly those that its scripts need and that docs/operations.md grants', () => {
    const read = (name: string) => readFileSync(`src/adapters/redis/lua/${name}.lua`, 'utf8');
    const scripts = [
      'include/guard',
      'include/page',
      'include/touch',
      'append',
      'save-snapshot',
      'load-snapshot',
    ];
    const called = [
      ...scripts
        .map(read)
        .join()
        .matchAll(/redis\.call\('([A-Z]+)'/g),
    ].map(([, command]) => command);
    const tried = Object.values(COMMANDS).flatMap((commands) =>
      commands.map(([command]) => command),
    );
    expect([...new Set(called)].sort()).to.deep.equal([...tried, 'INFO'].sort());
    const granted = [...SERVICE_RULES.matchAll(/\+([a-z]+)(?= |\))/g)].map(([, command]) =>
      command!.toUpperCase(),
    );
    const others = ['INFO', 'SET', 'EVAL', 'EVALSHA', 'WAIT'];
    expect(granted.sort()).to.deep.equal([...tried, ...others].sort());
  });
});

describeRedis('A Redis user with the rights of docs/operations.md', (startRedis) => {
  const open = openedPerTest();
  let redis: RedisServer;
  let url: string;
  beforeEach(async () => {
    redis = await startRedis();
    url = redis.url.replace('//', '//plant-store:secret@');
    await grant(SERVICE_RULES);
  });

  const grant = (rules: string, { admin } = redis) =>
    admin.call('ACL', 'SETUSER', 'plant-store', 'reset', ...rules.split(' '));
  const denied = async ({ admin } = redis) => (await admin.acl('LOG')) as unknown[];
  /** The commands of these rules that were not executed. */
  async function unused(rules: string): Promise<string[]> {
    const stats = await redis.admin.info('commandstats');
    const run = [...stats.matchAll(/^cmdstat_(\S+):calls=[1-9]/gm)].map(([, command]) => command);
    return [...rules.matchAll(/\+([a-z|]+)/g)]
      .map(([, name]) => name!)
      .filter((name) => !run.includes(name));
  }

  for (const [who, row, use, elsewhere] of [
    ['a service', '', ({ append }: Opened) => rejection(append('bob')), []],
    ['a projection', 'a program with a', useAsProjection, []],
    // The command line removes the checkpoints of an erased stream, as a projection does.
    ['an operator', 'operators', useAsOperator, ['zscore', 'hkeys', 'hdel']],
  ] as const)
    it(`can do everything that ${who} needs, and has no right that is not used`, async () => {
      const rules = row ? additionalRules(row).join(' ') : SERVICE_RULES;
      await grant(`${SERVICE_RULES} ${rules}`);
      await redis.admin.config('RESETSTAT');
      const opened = await open({ url });
      await useAsService(opened);
      await use(row ? opened : await open({ url, waitReplicas: 1, timeoutMs: 100 }));
      expect([await unused(rules), await denied()]).to.deep.equal([elsewhere, []]);
    });

  it('needs an additional right for another database or a Cluster, and the log names a missing one', async () => {
    const node = await startRedis('--cluster-enabled', 'yes');
    await formCluster([node]);
    for (const [server, rules, options] of [
      [redis, ofDatabase, { url: `${url}/1` }],
      [node, ofCluster, { url, clusterNodes: [node] }],
    ] as const) {
      await grant(SERVICE_RULES, server);
      const refused = await open(options);
      expect(refused.log.join()).to.match(/Redis cannot be reached: .*NOPERM.*(?:select|cluster)/);
      await grant(`${SERVICE_RULES} ${rules}`, server);
      await server.admin.acl('LOG', 'RESET');
      const granted = await open(options);
      // On a busy machine, the first attempt to connect may fail.
      await until(() => succeeds(granted.check()));
      await useAsService(granted);
      expect(await denied(server)).to.deep.equal([]);
    }
  });

  it('needs each right: a lost one is reported with its command and key until it is granted again', async () => {
    // An id is created only where writes can reach the replicas.
    await open({ url });
    const { log, status } = await open({ url, examineEveryMs: 50, waitReplicas: 1 });
    const named = () => log.find((line) => line.includes('its user lacks the right'));
    for (const [words, rights] of Object.entries({
      'to INFO in scripts': ['info'],
      'to GET( and SET)? on the key plant-store:id': ['get'],
      'to call scripts or WAIT': ['eval', 'evalsha', 'wait'],
      '}:rights/probe:events': ['xrange', 'xrevrange', 'xadd'],
      '}:index': ['zadd', 'zrange'],
      '}:rights/probe:snapshot:': ['hmget', 'unlink'],
      ':snapshot:draft:': ['hset', 'pexpire', 'persist', 'rename'],
    }))
      for (const right of rights) {
        log.length = 0;
        await grant(without(right));
        await until(() => named() !== undefined);
        expect(named(), right)
          .to.match(new RegExp(words))
          .and.to.match(new RegExp(`\\b${right}\\b`, 'i'));
        expect(status().writes, right).to.equal(false);
        await grant(SERVICE_RULES);
        await until(() => !status().findings.missing_right);
        expect(log.join()).not.to.match(/restore|emptied/);
      }
  });

  for (const [what, rules, words, reads, writes] of [
    // Appends at the head of a stream need neither.
    ['XRANGE', without('xrange'), 'XRANGE on the key plant-store:{', false, true],
    ['INFO', without('info'), 'INFO', false, false],
    [
      'its keys',
      SERVICE_RULES.replace('~plant-store', '~other'),
      'on the key plant-store:',
      false,
      false,
    ],
    ['XADD', without('xadd'), 'XADD on the key plant-store:{', true, false],
  ] as const)
    it(`that loses the right to ${what} fails only what needs it, even on new connections, and logs it`, async () => {
      const { append, check, log, status, stream } = await open({ url, examineEveryMs: 600_000 });
      await append();
      await grant(rules);
      // The first call that is refused shows it, in words that a command prints.
      const call = () => (writes ? stream().read(BEGINNING) : append('bob'));
      await until(async () => String(await rejection(call())).includes(words));
      await redis.admin.client('KILL', 'USER', 'plant-store');
      const connected = () => log.filter((line) => line === 'info Redis is connected').length;
      await until(() => connected() === 2 && status().reads);
      expect(log.find((line) => line.includes('lacks the right to'))).to.include(words);
      const succeeded = [stream().read(BEGINNING), check(), append('bob')].map(succeeds);
      expect(await Promise.all(succeeded)).to.deep.equal([reads, reads, writes]);
      expect(status()).to.deep.include({ writes: false, refusals: ['missing_right'] });
      expect(log.join()).not.to.match(/restore the data|emptied/);
    });
});

describeRedis('A Redis on which a command is renamed or disabled', (startRedis) => {
  const open = openedPerTest();

  for (const [command, reads, writes, words] of [
    ['EVAL', false, false, "call scripts or WAIT (ERR unknown command 'eval'"],
    ['EVALSHA', false, false, "call scripts or WAIT (ERR unknown command 'evalsha'"],
    ['XADD', true, false, 'XADD on the key plant-store:{'],
    ['ZADD', true, false, 'ZADD on the key plant-store:{'],
    ['XREVRANGE', true, false, 'XREVRANGE on the key plant-store:{'],
    ['GET', true, false, 'GET and SET on the key plant-store:id'],
    ['CLIENT', true, true, ''],
    ['CONFIG', true, true, ''],
  ] as const)
    it(`is reported if the command is needed, and serves what works without it: ${command}`, async () => {
      const redis = await startRedis('--rename-command', command, 'secret');
      const { append, check, log, status } = await open({ url: redis.url });
      if (words)
        await until(() => log.some((line) => line.includes(`lacks the right to ${words}`)));
      // The first execution of a script needs EVAL, and the others EVALSHA.
      await Promise.all([check(), append()].map(succeeds));
      expect(await Promise.all([check(), append()].map(succeeds))).to.deep.equal([reads, writes]);
      expect(status().writes).to.equal(writes);
      if (words) expect(log.join()).to.include('rename-command');
    });

  it('is refused if the command is SELECT and the URL has a database number', async () => {
    const redis = await startRedis('--rename-command', 'SELECT', '');
    const { append, log } = await open({ url: `${redis.url}/1` });
    await until(() => log.some((line) => /unknown command.*select/i.test(line)));
    expect(await succeeds(append())).to.equal(false);
    expect(await redis.admin.dbsize()).to.equal(0);
  });
});
