import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../../support/client';
import { patient } from '../../../support/patience';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { ServiceProcess } from '../../../support/service-process';
import { tokenOf } from '../../../support/token';
import { STORE_TIMEOUT_MS } from './limits';

/** Time for requests in flight to be answered, and for connections to be closed. */
const ENDS_WITHIN_MS = STORE_TIMEOUT_MS + 2500;

describeOwnRedis(
  'The process that gets SIGTERM ends with 0 and in time, prints nothing but its log,',
  (startRedis) => {
    let redis: RedisServer;
    let service: ServiceProcess;
    let client: Client;

    beforeEach(async () => {
      redis = await startRedis();
      service = await ServiceProcess.start({
        EVENT_STORE: 'redis',
        REDIS_URL: redis.url,
        AUTH_TOKENS: `alice:${tokenOf('alice')}`,
        STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
      });
      client = new Client(service.url);
      expect(await client.create(1, 'Fern')).to.include({ status: 200 });
    });
    afterEach(() => service.kill());

    async function ends(): Promise<void> {
      const since = performance.now();
      service.signal('SIGTERM');
      expect(await service.exitCode()).to.equal(0);
      expect(performance.now() - since).to.be.below(patient(ENDS_WITHIN_MS));
      for (const line of service.output.trim().split('\n'))
        expect(() => JSON.parse(line) as unknown, line).not.to.throw();
    }

    it('while Redis is unavailable', async () => {
      await redis.kill9();
      expect(await client.create(2, 'Moss')).to.include({ status: 503 });
      await ends();
    });

    it('while Redis is frozen, after it answered the requests in flight', async () => {
      await redis.freeze();
      const underWay = [client.create(2, 'Moss'), client.list()];
      await pause(50);
      await ends();
      expect((await Promise.all(underWay)).map(({ error }) => error)).to.deep.equal([50301, 50300]);
    });
  },
);
