import { describeSharedRedis } from '../../../support/redis';
import { startWatched } from '../../../support/watched-service';
import { behaviour, tested } from './behaviour';

// The requests of a user alternate between the instances.
describeSharedRedis('Two instances of the service on Redis', (redis) => {
  const start = (environment: Readonly<Record<string, string>>) =>
    startWatched({
      ...environment,
      EVENT_STORE: 'redis',
      REDIS_URL: redis.url,
      REDIS_KEY_PREFIX: redis.prefix,
    });
  behaviour(tested((environment) => Promise.all([start(environment), start(environment)])));
});
