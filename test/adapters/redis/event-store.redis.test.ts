import { describeEventStore } from '../../contracts/event-store';
import { describeRedis } from '../../support/redis';
import { openStore } from './open-store';

describeRedis('On one Redis', (redis) => {
  for (const pageSize of [1, 1000]) {
    describeEventStore({
      name: `RedisEventStore with ${pageSize} to a page`,
      pageSize,
      durable: true,
      open: () => openStore(redis.url, { keyPrefix: redis.prefix, pageSize }),
    });
  }
});
