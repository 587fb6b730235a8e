import { expect } from 'chai';
import { instancesPerTest } from '../../../support/instance';
import { describeOwnRedis } from '../../../support/redis';
import { until } from '../../../support/until';
import { ANSWERED_WITHIN_MS, STORE_TIMEOUT_MS } from './under-load';

/** Shared for a second, and in doubt for as long as the store may take. */
const NOTICED_WITHIN_MS = 1000 + ANSWERED_WITHIN_MS;

describeOwnRedis('/health/ready', (startRedis) => {
  const startInstances = instancesPerTest();

  for (const [fault, begin, end] of [
    ['killed', 'kill9', 'start'],
    ['frozen', 'freeze', 'thaw'],
  ] as const) {
    it(`tells, in time, that Redis was ${fault}, and that it is back`, async () => {
      const redis = await startRedis();
      const [instance] = await startInstances(1, {
        REDIS_URL: redis.url,
        STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
      });
      const probe = async () => {
        const start = performance.now();
        const answer = await fetch(`${instance!.url}/health/ready`);
        const text = await answer.text();
        expect(performance.now() - start).to.be.below(ANSWERED_WITHIN_MS);
        return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text };
      };
      expect(await probe()).to.include({ status: 200, text: '{"status":"ready"}' });

      await redis[begin]();
      const since = performance.now();
      await until(async () => (await probe()).status === 503);
      expect(performance.now() - since).to.be.below(NOTICED_WITHIN_MS);
      const unready = await probe();
      expect(unready.status).to.equal(503);
      expect(unready.retryAfter).to.match(/^[12]$/);
      expect(JSON.parse(unready.text)).to.include({ error: 50300 });
      expect((await fetch(`${instance!.url}/health/live`)).status).to.equal(200);

      await redis[end]();
      await until(async () => (await probe()).status === 200);
    });
  }
});
