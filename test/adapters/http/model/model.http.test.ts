import { freePort } from '../../../support/redis/free-port';
import { type WatchedService, startWatched } from '../../../support/watched-service';
import { ENVIRONMENT, SEED, compareWithModel } from './compare-with-model';

describe('The service in memory', () => {
  let service: WatchedService;
  const start = async (port: number) =>
    (service = await startWatched({ ...ENVIRONMENT, PORT: String(port) }));
  before(async () => {
    await start(await freePort());
  });
  after(() => service.stop());

  it(`answers any requests as the model of the specification, and is empty after a restart, SEED=${SEED}`, async () => {
    const { url } = service;
    const restart = async () => {
      await service.stop();
      await start(Number(new URL(url).port));
    };
    await compareWithModel({ urls: [url], restart, forgets: true }, 40);
  }).timeout(600_000);
});
