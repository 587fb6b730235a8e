/** A client walks through the pages of a list, and Redis fails over between two of them. */
import { expect } from 'chai';
import { HttpClient, nextPage } from '../../support/client';
import { instancesPerTest } from '../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';

describeOwnRedis('A walk through the pages of a list', (startRedis) => {
  const start = instancesPerTest();
  let primary: RedisServer;
  let replica: RedisServer;
  let proxy: TcpProxy;
  let client: HttpClient;

  beforeEach(async () => {
    primary = await startRedis();
    replica = await startRedis('--replicaof', ...primary.peer);
    proxy = await TcpProxy.to(primary);
    const [service] = await start(1, { REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
    client = new HttpClient(service!.url);
  });
  afterEach(() => proxy.close());

  const create = (...ids: number[]) => client.plants(...ids.map((id) => [id, `plant ${id}`] as const));
  const isReplicated = async () =>
    (await replica.admin.info('replication')).includes('master_link_status:up') &&
    Number(/master_repl_offset:(\d+)/.exec(await primary.admin.info('replication'))![1]) ===
      Number(/master_repl_offset:(\d+)/.exec(await replica.admin.info('replication'))![1]);

  /** The names of a page, which may have to wait for the new primary, and the path of the next page. */
  async function page(path: string): Promise<[names: readonly string[], next: string | undefined]> {
    let response = await client.get(path);
    await until(async () => response.status !== 503 || ((response = await client.get(path)), false));
    expect(response.status).to.equal(200);
    return [response.names!, nextPage(response)];
  }

  async function failOver(): Promise<void> {
    await replica.admin.replicaof('NO', 'ONE');
    proxy.leadTo(replica);
  }

  it('goes on after a failover, and has each plant once', async () => {
    await create(1, 2, 3, 4, 5);
    await until(isReplicated);
    const [first, second] = await page('/plants?limit=2');
    await failOver();
    const [then, third] = await page(second!);
    const [last, end] = await page(third!);
    expect([...first, ...then, ...last]).to.deep.equal([1, 2, 3, 4, 5].map((id) => `plant ${id}`));
    expect(end).to.equal(undefined);
  });

  it('has each plant once that a failover does not lose, also after others took the place of lost ones', async () => {
    await create(1, 2, 3);
    await until(isReplicated);
    await replica.admin.replicaof('NO', 'ONE');
    await create(4, 5, 6, 7);
    const [first, second] = await page('/plants?limit=3');
    const [lost, third] = await page(second!);
    expect(lost).to.deep.equal(['plant 4', 'plant 5', 'plant 6']);
    await failOver();
    await page('/plants');
    await create(8);
    expect(await page(third!)).to.deep.equal([[], undefined]);
    expect(first).to.deep.equal(['plant 1', 'plant 2', 'plant 3']);
    expect((await page('/plants'))[0]).to.deep.equal([...first, 'plant 8']);
  });
});
