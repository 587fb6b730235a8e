import { describeRedis } from '../../../support/redis';
import { drains } from './drain';

describeRedis('the shutdown of the service, on Redis', (redis) => {
  drains(() => ({ EVENT_STORE: 'redis', REDIS_URL: redis.url, REDIS_KEY_PREFIX: redis.prefix }));
});
