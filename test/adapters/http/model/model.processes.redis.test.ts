import { describeRedis } from '../../../support/redis';
import { freePort } from '../../../support/redis/free-port';
import { ServiceProcess } from '../../../support/service-process';
import { ENVIRONMENT, SEED, compareWithModel } from './compare-with-model';

describeRedis('Two processes of the service on one Redis, which receive the requests in turn,', (redis) => {
  const processes: ServiceProcess[] = [];
  const start = async (port: number) => {
    const onRedis = { EVENT_STORE: 'redis', REDIS_URL: redis.url, REDIS_KEY_PREFIX: redis.prefix };
    processes.push(
      await ServiceProcess.start({ ...ENVIRONMENT, ...onRedis, PORT: String(port), LOG_FORMAT: 'json' }),
    );
  };
  before(async () => {
    for (let instance = 0; instance < 2; instance++) await start(await freePort());
  });
  after(() => Promise.all(processes.map((process) => process.kill())));

  it(`answer any requests as the model of the specification, also after SIGKILL and a restart, SEED=${SEED}`, async () => {
    const urls = processes.map(({ url }) => url);
    const restart = async () => {
      const killed = processes.shift()!;
      await killed.kill();
      await start(Number(new URL(killed.url).port));
    };
    await compareWithModel({ urls, restart, forgets: false }, 10);
  }).timeout(1_200_000);
});
