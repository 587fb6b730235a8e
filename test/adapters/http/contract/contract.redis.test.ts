import { startInstance } from '../../../support/instance';
import { describeRedis } from '../../../support/redis';
import { behaviour } from './behaviour';
import { httpContract } from './contract';

// The requests of a user alternate between the instances.
describeRedis('Two instances of the service on Redis', (redis) => {
  httpContract(
    {
      name: 'Together, the service',
      async start(environment) {
        const onRedis = { REDIS_URL: redis.url, REDIS_KEY_PREFIX: redis.prefix, ...environment };
        const instances = await Promise.all([startInstance(onRedis), startInstance(onRedis)]);
        return {
          urls: instances.map(({ url }) => url),
          stop: () => Promise.all(instances.map((instance) => instance.stop())),
        };
      },
    },
    behaviour,
  );
});
