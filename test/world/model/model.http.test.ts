import { freePort } from '../../support/redis/free-port';
import { type WatchedService, startWatched } from '../../support/watched-service';
import { expect } from 'chai';
import { ENVIRONMENT, KINDS, compareWithModel } from './compare-with-model';

const LONG = process.env['LONG'] === '1';
/** With `LONG=1` a new one for each run of the tests. */
const SEED = Number(process.env['SEED'] ?? (LONG ? Date.now() % 2 ** 31 : 42));

describe('The service in memory', () => {
  let service: WatchedService;
  const start = async (port: number) =>
    (service = await startWatched({ ...ENVIRONMENT, AUTH_TOKENS: '', PORT: String(port) }));
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
    const met = await compareWithModel({ urls: [url], restart, forgets: true }, SEED, LONG ? 200 : 40);
    expect([...met]).to.include.members(KINDS);
  }).timeout(600_000);
});
