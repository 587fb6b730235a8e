import { startInstance } from '../../../support/instance';
import { describeRedis } from '../../../support/redis';
import { httpContract } from './http-contract';

// With two instances the requests of a user alternate between them.
describeRedis('The service on Redis', (redis) => {
  for (const [name, count] of [
    ['one instance', 1],
    ['two instances, asked in turn,', 2],
  ] as const) {
    httpContract({
      name,
      async start(environment) {
        const onRedis = {
          REDIS_URL: redis.url,
          REDIS_KEY_PREFIX: `${redis.prefix}:${count}`,
          ...environment,
        };
        const instances = await Promise.all(Array.from({ length: count }, () => startInstance(onRedis)));
        return {
          urls: instances.map(({ url }) => url),
          stop: () => Promise.all(instances.map((instance) => instance.stop())),
        };
      },
    });
  }
});
