/** A client walks through the pages of a list, and Redis fails over between two of them. */
import { expect } from 'chai';
import { HttpClient, nextPage } from '../../support/client';
import { describeRedis } from '../../support/redis';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { servicesPerTest } from '../../support/watched-service';

describeRedis('A walk through the pages of a list', (startRedis) => {
  const start = servicesPerTest();

  it('shows each plant that survives a failover once, even if new plants replace lost ones', async () => {
    const primary = await startRedis();
    const replica = await startRedis('--replicaof', ...primary.peer);
    const proxy = await TcpProxy.to(primary);
    const service = await start({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
    const client = new HttpClient(service.url);
    const create = (...ids: number[]) =>
      client.plants(...ids.map((id) => [id, `plant ${id}`] as const));
    const isReplicated = async () =>
      /state=online,offset=(\d+),[^]*master_repl_offset:\1\r/.test(
        await primary.admin.info('replication'),
      );
    /**
     * The names of a page, which may have to wait for the new primary, and the path of the next
     * page.
     */
    const page = async (path: string) => {
      let response = await client.get(path);
      await until(
        async () => response.status !== 503 || ((response = await client.get(path)), false),
      );
      expect(response.status).to.equal(200);
      return [response.names!, nextPage(response)] as const;
    };

    await create(1, 2, 3, 4);
    await until(isReplicated);
    await replica.admin.replicaof('NO', 'ONE');
    await create(5, 6, 7);
    const [first, second] = await page('/plants?limit=2');
    const [then, third] = await page(second!);
    const [lost, fourth] = await page(third!);
    proxy.leadTo(replica);
    expect(await page(second!)).to.deep.equal([['plant 3', 'plant 4'], undefined]);
    await create(8);
    expect(await page(fourth!)).to.deep.equal([[], undefined]);
    expect(lost).to.deep.equal(['plant 5', 'plant 6']);
    expect((await page('/plants'))[0]).to.deep.equal([...first, ...then, 'plant 8']);
    await proxy.close();
  });
});
