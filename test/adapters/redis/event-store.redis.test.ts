import { expect } from 'chai';
import { streamKey } from '../../../src/adapters/redis/stream-key';
import { BEGINNING, headOf } from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { encoded, ferns } from '../../support/given';
import { describeEventStore } from '../../contracts/event-store';
import { describeOwnRedis, describeRedis } from '../../support/redis';
import { TcpProxy } from '../../support/tcp-proxy';
import { openStore } from './open-store';

describeRedis('On one Redis', (redis) => {
  for (const pageSize of [1, 1000]) {
    describeEventStore({
      name: `RedisEventStore with ${pageSize} to a page`,
      pageSize,
      durable: true,
      shared: true,
      loseEvents: async (stream) => {
        await redis.admin.del(streamKey(redis.prefix, stream));
      },
      feedLength: 200,
      open: () => openStore(redis.url, { keyPrefix: redis.prefix, pageSize, feedLength: 200 }),
    });
  }

  it('RedisEventStore reads a first page of at most 64 events, and further ones of up to 512', async () => {
    const { store, close } = await openStore(redis.url, { keyPrefix: redis.prefix });
    const stream = streamName('alice');
    await store.append(stream, BEGINNING, 'many', encoded(...ferns(700)));
    const sizes: number[] = [];
    for (let head = BEGINNING, more = true; more;) {
      const page = await store.read(stream, head);
      if (page.status !== 'read') throw new Error(page.status);
      sizes.push(page.events.length);
      ({ more } = page);
      head = headOf(page.events.at(-1)!);
    }
    expect(sizes).to.deep.equal([64, 512, 124]);
    await close();
  });
});

describeOwnRedis('On a Redis behind a network that loses replies', (startRedis) => {
  for (const connection of ['cut', 'left open'] as const) {
    describe(`, with the connection ${connection}`, () => {
      let proxy: TcpProxy;
      before(async () => {
        const { host, port } = await startRedis();
        proxy = await TcpProxy.to({ host, port });
      });
      after(() => proxy.close());

      describeEventStore({
        name: 'RedisEventStore',
        pageSize: 3,
        open: () => openStore(`redis://127.0.0.1:${proxy.port}`, { pageSize: 3, timeoutMs: 1000 }),
        only: /^a lost reply/,
        loseReply: () => void proxy.loseReply((request) => request.includes('evalsha'), connection),
      });
    });
  }
});
