import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { heapShare } from '../../src/adapters/system';
import { metricOf } from '../support/metrics';
import { type WatchedService, startWatched } from '../support/watched-service';

describe('The service, configured', () => {
  let service: WatchedService;
  afterEach(() => service.stop());

  it('on an IPv6 address has it in its URL', async function () {
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    if (!addresses.some(({ address }) => address === '::1')) this.skip();
    service = await startWatched({ HOST: '::1' });
    expect(service.url).to.match(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(service.url)).status).to.equal(200);
  });

  it('with CACHE_MAX_BYTES has this limit of the memory of aggregates, by default a share of the heap', async () => {
    for (const [CACHE_MAX_BYTES, limit] of [
      ['2000000', 2_000_000],
      ['', heapShare()],
    ] as const) {
      service = await startWatched({ CACHE_MAX_BYTES });
      expect(await metricOf(service.url, 'plant_store_cache_limit_bytes')).to.equal(limit);
      await service.stop();
    }
  });
});
