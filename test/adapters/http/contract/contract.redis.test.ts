import { type RedisServer, describeRedis } from '../../../support/redis';
import { startWatched } from '../../../support/watched-service';
import { behaviour, tested } from './behaviour';

// The requests of a user alternate between the instances.
describeRedis('Two instances of the service on Redis', (startRedis) => {
  let redis: RedisServer;
  before(async () => void (redis = await startRedis()));
  const start = (environment: Readonly<Record<string, string>>) =>
    startWatched({ ...environment, EVENT_STORE: 'redis', REDIS_URL: redis.url });
  behaviour(tested((environment) => Promise.all([start(environment), start(environment)])));
});
