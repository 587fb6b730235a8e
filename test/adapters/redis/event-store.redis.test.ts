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
      open: () => openStore(redis.url, { keyPrefix: redis.prefix, pageSize }),
    });
  }
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
