import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { compiledMain } from '../../../support/compiled';
import { Client } from '../../../support/client';
import { tokenOf } from '../../../support/instance';
import { patient } from '../../../support/patience';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { noteOutput } from '../../../support/suite-log';
import { STORE_TIMEOUT_MS } from './under-load';

/** Time for requests in flight to be answered, and for connections to be closed. */
const ENDS_WITHIN_MS = STORE_TIMEOUT_MS + 2500;

describeOwnRedis(
  'The process asked to end (SIGTERM) ends with 0 and in time, says nothing on stderr,',
  (startRedis) => {
    let toLose: Case, toMiss: Case, toFreeze: Case;

    // All at once, because starting a process takes time.
    before(async () => {
      [toLose, toMiss, toFreeze] = await Promise.all([open(), open(), open()]);
      await toMiss.redis.kill9();
    });
    after(() => [toLose, toMiss, toFreeze].forEach(({ service }) => service.process.kill('SIGKILL')));

    async function open(): Promise<Case> {
      const redis = await startRedis();
      return { redis, service: new ServiceProcess(redis.url) };
    }

    it('while Redis is unavailable', async () => {
      const { redis, service } = toLose;
      const client = await service.started();
      expect(await client.create(1, 'Fern')).to.include({ status: 200 });
      await redis.kill9();
      expect(await client.create(2, 'Moss')).to.include({ status: 503 });
      await service.ends();
    });

    it('while Redis is frozen, after it answered the requests in flight', async () => {
      const { redis, service } = toFreeze;
      const client = await service.started();
      expect(await client.create(1, 'Fern')).to.include({ status: 200 });
      await redis.freeze();
      const underWay = [client.create(2, 'Moss'), client.list()];
      await pause(50);
      await service.ends();
      expect((await Promise.all(underWay)).map(({ error }) => error)).to.deep.equal([50301, 50300]);
    });
  },
);

interface Case {
  readonly redis: RedisServer;
  readonly service: ServiceProcess;
}

/** The service in a separate process. */
class ServiceProcess {
  readonly process: ChildProcess;
  #out = '';
  #err = '';

  constructor(redisUrl: string) {
    this.process = spawn(process.execPath, [compiledMain()], {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        EVENT_STORE: 'redis',
        REDIS_URL: redisUrl,
        AUTH_TOKENS: `alice:${tokenOf('alice')}`,
        STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.once('close', () => noteOutput(this.#out));
    this.process.stdout!.on('data', (bytes: Buffer) => (this.#out += bytes.toString()));
    this.process.stderr!.on('data', (bytes: Buffer) => (this.#err += bytes.toString()));
  }

  async started(): Promise<Client> {
    for (;;) {
      const url = /listens on (\S+)/.exec(this.#out)?.[1];
      if (url !== undefined) return new Client(url);
      expect(this.process.exitCode, this.#out + this.#err).to.equal(null);
      await pause(10);
    }
  }

  async ends(): Promise<void> {
    const since = performance.now();
    this.process.kill('SIGTERM');
    const [code] = (await once(this.process, 'exit')) as [number | null];
    expect({ code, err: this.#err }).to.deep.equal({ code: 0, err: '' });
    expect(performance.now() - since).to.be.below(patient(ENDS_WITHIN_MS));
  }
}
