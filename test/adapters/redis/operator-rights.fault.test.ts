import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openRedisEventStore, streamKey } from '../../../src/adapters/redis';
import { system } from '../../../src/adapters/system';
import { plantCodec } from '../../../src/application';
import { BEGINNING, type OutcomeUnknown, atLeastOnce, project } from '../../../src/event-sourcing';
import { compiledCli } from '../../support/compiled-cli';
import { encoded, created, plantsOf } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { OPERATOR_RULES, PROJECTION_RULES, SERVICE_RULES } from '../../support/redis/acl';
import { rejection } from '../../support/rejection';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';
import { toOldLayout } from './old-layout';
import { openStore } from './open-store';

const alice = plantsOf('alice');

const FEED = 'plant-store:{39}:feed';

describeOwnRedis('A Redis user with the operator rights of docs/command-line.md', (startRedis) => {
  const bash = compiledCli();
  const path = temporaryDirectory();
  let redis: RedisServer;
  let url: string;

  beforeEach(async () => {
    redis = await startRedis();
    await redis.admin.acl('SETUSER', 'operator', ...OPERATOR_RULES);
    url = Object.assign(new URL(redis.url), { username: 'operator', password: 'secret' }).href;
  });

  it('has all rights of the service', () => {
    expect(OPERATOR_RULES.filter((rule) => !rule.startsWith('>'))).to.include.members(
      SERVICE_RULES.filter((rule) => !rule.startsWith('>')),
    );
  });

  it('can run every command that uses a store, and the service’s user those that the page names', async () => {
    await redis.admin.acl('SETUSER', 'service', ...SERVICE_RULES);
    const asService = url.replace('operator', 'service');
    const alice = '--user alice';
    const file = path('events.ndjson');
    const commands = [
      [asService, `create ${alice} --id 1 --name Fern`],
      [asService, `list ${alice}`],
      [asService, `delete ${alice} --id 1`],
      [url, `events tail ${alice} --from start`, 'interrupted'],
      [url, `events export --output ${file}`],
      [url, 'events verify'],
      [url, `events archive ${alice} --until 2 --output ${file}.archive`],
      [url, `events erase ${alice} --yes`],
      [url, `events import ${file}`],
      [url, 'events tail', 'interrupted'],
    ] as const;
    const { store, close } = await openStore(redis.url);
    let version = 0;
    /** An event for the tail of all users, which shows those that are recorded after its start. */
    const append = async () => {
      const head = version === 0 ? BEGINNING : { version, commit: `commit ${version}` };
      version++;
      await store.append(plantsOf('bob'), head, `commit ${version}`, encoded(created(version, 'Moss')));
    };
    for (const [user, command, interrupted] of commands) {
      const environment = { EVENT_STORE: 'redis', REDIS_URL: user, STORE_TIMEOUT_MS: '10000' };
      const { child, said, ended } = bash(`exec plant-store ${command}`, environment);
      if (interrupted) {
        await until(async () => {
          if (command === 'events tail') await append();
          return said.out !== '' || child.exitCode !== null;
        });
        child.kill('SIGINT');
      }
      const { code, error } = await ended;
      expect({ command, code, error: code === 0 ? '' : error }).to.deep.equal({
        command,
        code: 0,
        error: '',
      });
    }
    await close();
    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
    const claimed = /are enough for (.+?)\. /.exec(readFileSync('docs/command-line.md', 'utf8'))![1]!;
    const tried = commands
      .filter(([user]) => user === asService)
      .map(([, command]) => command.split(' --')[0]);
    expect([...claimed.matchAll(/`(.+?)`/g)].map(([, name]) => name)).to.deep.equal(tried);
  });

  it('can find and erase streams, and uses every additional right', async () => {
    const { store, catalogue, archive, leases, close } = await openStore(url);
    await store.append(plantsOf('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern')));
    await leases.save('notes', undefined, '{"term":0,"instances":{},"buckets":{}}');
    const found = [];
    for await (const one of catalogue.streams()) found.push(one);
    expect(found).to.deep.equal([{ stream: alice, version: 1 }]);
    const base = { format: 'f-1', head: { version: 1, commit: 'a commit' }, archive: 'seal', chunks: ['a'] };
    await archive.saveBase(alice, base, 0, async () => {});
    expect(await archive.trim(alice, base.head)).to.equal(0);
    expect(await archive.bytes(alice)).to.be.greaterThan(0);
    const notifying = await openRedisEventStore({ url });
    await new Promise<void>((changed) => notifying.store.notify!(alice, BEGINNING, changed));
    notifying.close();
    // As if it had been trimmed: the erasure forgets it.
    await redis.admin.hset(`${FEED}:erased`, '-1', 'a commit');
    expect(await catalogue.erase(alice)).to.equal(1);
    await close();

    const waiting = await openStore(url, { waitReplicas: 1, timeoutMs: 200 });
    await waiting.catalogue.erase(alice).catch(() => {});
    await waiting.close();

    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
    const run = [...(await redis.admin.info('commandstats')).matchAll(/^cmdstat_([^:]+):/gm)].map(
      ([, name]) => name!,
    );
    const granted = OPERATOR_RULES.filter((rule) => rule.startsWith('+') && !SERVICE_RULES.includes(rule));
    expect(granted).to.have.length(9);
    expect(run).to.include.members(granted.map((rule) => rule.replace(/^\+|\)$/g, '')));
  });

  it('lets a program with a projection run, with the rights that docs/operations.md adds to those of the service', async () => {
    await redis.admin.acl('SETUSER', 'reader', ...PROJECTION_RULES);
    const opened = await openRedisEventStore({ url: url.replace('operator', 'reader') });
    await opened.store.append(alice, BEGINNING, 'a commit', encoded(created(1, 'Fern')));
    const checkpoints = opened.checkpoints('plants');
    const projection = project(opened, {
      ...system(),
      codec: plantCodec,
      ...atLeastOnce(checkpoints, () => {}),
      lostTail: () => {},
    });
    await projection.waitFor(alice, { version: 1, commit: 'a commit' });
    const operator = await openStore(url);
    await operator.catalogue.erase(alice);
    await operator.close();
    await opened.store.append(alice, BEGINNING, 'another', encoded(created(1, 'Fern')));
    await projection.waitFor(alice, { version: 1, commit: 'another' });
    // A feed that begins anew: the projection compares all of its streams.
    await redis.admin.del(FEED, streamKey('plant-store', alice));
    await until(async () => (await checkpoints.load([`39/${encodeURIComponent(alice)}`]))[0] === undefined);
    await projection.close();
    opened.close();
    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
  });

  it('can convert a store with the additional rights of the page, and not without', async () => {
    const page = readFileSync('docs/command-line.md', 'utf8');
    const additional = /`events convert` also renames streams: give its user `(.+?)`/
      .exec(page)![1]!
      .split(' ');
    const service = await openStore(url);
    await service.store.append(plantsOf('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern')));
    await service.close();
    await toOldLayout(redis.admin);
    const environment = { EVENT_STORE: 'redis', REDIS_URL: url };
    const convert = async (option = '') =>
      (await bash(`plant-store events convert${option}`, environment).ended).code;
    expect(await convert()).to.equal(3);
    await redis.admin.acl('SETUSER', 'operator', ...additional);
    await redis.admin.acl('LOG', 'RESET');
    expect(await convert()).to.equal(0);
    expect(await redis.admin.exists('plant-store:{39}:plants/alice:events')).to.equal(1);
    expect(await convert(' --undo')).to.equal(0);
    expect(await redis.admin.exists('plant-store:{alice}:events')).to.equal(1);
    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
  });

  it('gets no confirmation of an erasure, nor of its retry, before the required replicas have confirmed it', async () => {
    const single = await openStore(url);
    await single.store.append(plantsOf('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern')));
    await single.close();
    const { catalogue, close } = await openStore(url, { waitReplicas: 1, timeoutMs: 200 });
    for (let time = 0; time < 2; time++) {
      const failure = (await rejection(catalogue.erase(alice))) as OutcomeUnknown;
      expect(failure.name).to.equal('OutcomeUnknown');
    }
    expect(await redis.admin.keys('*')).to.deep.equal([FEED]);

    const replica = await startRedis('--replicaof', ...redis.peer);
    const replicaIsOnline = async () => (await redis.admin.info('replication')).includes('state=online');
    await until(replicaIsOnline);
    await redis.admin.xadd('plant-store:{39}:plants/alice:events', '1-0', 'type', 'x');
    const patient = await openStore(url, { waitReplicas: 1 });
    await patient.catalogue.erase(alice);
    expect(await replica.admin.keys('*')).to.have.members([FEED, `${FEED}:erased`]);
    expect(await replica.admin.xlen(FEED)).to.equal(0);
    await Promise.all([close(), patient.close()]);
  });
});
