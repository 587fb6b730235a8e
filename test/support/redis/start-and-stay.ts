import { dockerRedis } from './docker';
import { localRedis } from './local';
import { RedisServer } from './server';

// Starts a Redis server, prints its address, and waits to be killed.
void (async () => {
  const source = await (process.argv[2] === 'docker' ? dockerRedis() : localRedis());
  if ('reason' in source) throw new Error(source.reason);
  const server = await RedisServer.start(await source.create([]));
  console.log(JSON.stringify({ host: server.host, port: server.port }));
})();
