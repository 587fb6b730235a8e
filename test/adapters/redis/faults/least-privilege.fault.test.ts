import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { HttpClient } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { formCluster } from '../../../support/redis/form-cluster';
import { SERVICE_RULES } from '../../../support/redis/acl';
import { until } from '../../../support/until';

/** The additional rules of the page. */
const [, FOR_A_DATABASE, FOR_A_CLUSTER] =
  /With a database other than 0 the service also needs `(\S+)`, in a Cluster `(.+?)`/.exec(
    readFileSync('docs/operations.md', 'utf8'),
  )!;

describeOwnRedis('A Redis user with the service rights of docs/operations.md', (startRedis) => {
  const startInstances = instancesPerTest();
  let redis: RedisServer;
  let url: URL;

  beforeEach(async () => {
    redis = await startRedis();
    await grant(redis, SERVICE_RULES);
    url = new URL(redis.url);
    url.username = 'plant-store';
    url.password = 'secret';
  });

  const grant = ({ admin }: RedisServer, rules: readonly string[]) =>
    admin.acl('SETUSER', 'plant-store', ...rules);

  /** The commands that the service has run; subcommands as `config|get`. */
  async function commandsRun(): Promise<string[]> {
    const stats = await redis.admin.info('commandstats');
    return [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, command]) => command!);
  }

  it('can do all that the service does, and uses every right', async () => {
    await redis.admin.config('RESETSTAT');
    // With a missing replica, appends are retried, so that every code path runs.
    const environment = { REDIS_URL: url.href, SNAPSHOT_EVERY: '1' };
    const waits = { STORE_TIMEOUT_MS: '400', REDIS_WAIT_REPLICAS: '1' };
    const [waiting] = await startInstances(1, { ...environment, ...waits });
    const [instance] = await startInstances(1, environment);
    // With the metrics of a projection.
    await redis.admin.hset(
      'plant-store:{0}:feed:projections',
      'tags',
      '{"term":0,"instances":{},"buckets":{}}',
    );
    await (await fetch(`${instance!.url}/metrics`)).text();
    const [waiter, client] = [new HttpClient(waiting!.url), new HttpClient(instance!.url)];

    const granted = SERVICE_RULES.filter((rule) => rule.startsWith('+')).map((rule) =>
      rule.replace(/[+)]/g, ''),
    );
    expect(await client.create(1, 'Moss')).to.include({ status: 200 });
    expect(await client.delete(1)).to.include({ status: 204 });
    expect((await client.list()).names).to.deep.equal([]);
    // On a busy machine a write may expire before its retry.
    let id = 1;
    await until(async () => {
      expect(await waiter.create(++id, 'Fern')).to.include({ status: 503 });
      const run = await commandsRun();
      return granted.every((command) => run.includes(command));
    });

    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
  });

  it('loses no request without the rights for snapshots, and logs once that they fail', async () => {
    const withoutSnapshots = SERVICE_RULES.slice(
      0,
      SERVICE_RULES.findIndex((rule) => rule.startsWith('(')),
    );
    await redis.admin.acl('SETUSER', 'plant-store', 'reset');
    await grant(redis, withoutSnapshots);
    const [instance] = await startInstances(1, { REDIS_URL: url.href, SNAPSHOT_EVERY: '1' });
    const client = new HttpClient(instance!.url);
    for (const id of [1, 2, 3]) expect(await client.create(id, 'Fern')).to.include({ status: 200 });
    await until(async () => ((await redis.admin.acl('LOG')) as unknown[]).length > 0);
    expect((await client.list()).names).to.have.length(3);

    await instance!.stop();
    const lines = instance!.log.filter(({ msg }) => msg.includes('snapshot'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 40 });
    // A command without its right in a script fails with another message.
    expect(JSON.stringify(lines[0])).to.match(/NOPERM|can't run this command/);
  });

  it('refuses only the users who have a base without the right to read it, and logs that', async () => {
    const withoutBases = SERVICE_RULES.slice(
      0,
      SERVICE_RULES.findIndex((rule) => rule.startsWith('(%R')),
    );
    await redis.admin.acl('SETUSER', 'plant-store', 'reset');
    await grant(redis, withoutBases);
    await redis.admin.hset('plant-store:{39}:plants/alice:base', 'version', 4, 'commit', 'a commit');
    const [instance] = await startInstances(1, { REDIS_URL: url.href });
    const [alice, bob] = [new HttpClient(instance!.url, 'alice'), new HttpClient(instance!.url, 'bob')];
    expect(await alice.list()).to.include({ status: 503, error: 50300 });
    expect(await alice.create(1, 'Fern')).to.include({ status: 503, error: 50300 });
    expect(await bob.create(1, 'Fern')).to.include({ status: 200 });

    await instance!.stop();
    const log = JSON.stringify(instance!.log);
    expect(log)
      .to.contain('StoreUnavailable: Redis refused the call')
      .and.not.contain('its base snapshot was taken after');
  });

  it('can use another database with the additional right of the page, and not without', async () => {
    url.pathname = '/1';
    await redis.admin.acl('SETUSER', 'plant-store', FOR_A_DATABASE!.replace('+', '-'));
    const [without] = await startInstances(1, { REDIS_URL: url.href });
    expect(await new HttpClient(without!.url).list()).to.include({ status: 503 });

    await redis.admin.acl('SETUSER', 'plant-store', FOR_A_DATABASE!);
    await redis.admin.acl('LOG', 'RESET');
    const [instance] = await startInstances(1, { REDIS_URL: url.href });
    expect(await new HttpClient(instance!.url).create(1, 'Fern')).to.include({ status: 200 });
    expect(await redis.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
  });

  it('can use a Cluster with the additional right of the page, and not without', async () => {
    const node = await startRedis('--cluster-enabled', 'yes');
    await formCluster([node]);
    const environment = { REDIS_URL: url.href, REDIS_CLUSTER_NODES: `${node.host}:${node.port}` };

    await grant(node, SERVICE_RULES);
    const [without] = await startInstances(1, environment);
    expect(await new HttpClient(without!.url).list()).to.include({ status: 503 });

    await grant(node, [...SERVICE_RULES, ...FOR_A_CLUSTER!.split(' ')]);
    await node.admin.acl('LOG', 'RESET');
    const [instance] = await startInstances(1, environment);
    expect(await new HttpClient(instance!.url).create(1, 'Fern')).to.include({ status: 200 });
    expect(await node.admin.acl('LOG'), 'what was denied').to.deep.equal([]);
  });

  it('is logged when its password is wrong', async () => {
    url.password = 'wrong';
    const [instance] = await startInstances(1, { REDIS_URL: url.href });
    expect(await new HttpClient(instance!.url).list()).to.include({ status: 503, error: 50300 });
    const logged = instance!.log.filter(({ msg }) => msg.includes('WRONGPASS'));
    expect(logged, 'once').to.have.length(1);
  });
});
