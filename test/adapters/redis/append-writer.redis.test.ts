import { streamName } from '../../../src/testing/a-stream';
import { expect } from 'chai';
import { APPEND } from '../../../src/adapters/redis/stream-scripts';
import { BEGINNING, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { encoded, created } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { until } from '../../support/until';
import { type OpenOptions, openStore } from './open-store';

const fern = created(1, 'Fern');
const BOUNDS = { appends: 5, bytes: 1_000_000 };

/** WAIT ends after 0.4 of it, and what is unsent expires after 0.5: on a busy machine the difference must not be short. */
const TIMEOUT_MS = 6000;

describeOwnRedis('Appends without a reply of Redis', (startRedis) => {
  let redis: RedisServer;
  let opened: Awaited<ReturnType<typeof openStore>> | undefined;

  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });

  async function open(options: OpenOptions) {
    opened = await openStore(redis.url, options);
    return opened.store;
  }

  /** The users with a stream, sorted by name. */
  async function recorded(): Promise<string[]> {
    return (await redis.admin.keys('plant-store:*:events'))
      .map((key) => /:([^:]+):events$/.exec(key)![1]!)
      .sort();
  }

  const users = (count: number) => Array.from({ length: count }, (_, index) => `user-${index + 10}`);
  const append = (store: { append: (typeof opened & object)['store']['append'] }, user: string) =>
    store.append(streamName(user), BEGINNING, `commit of ${user}`, encoded(fern)).then(
      ({ status }) => status,
      (error: unknown) => error,
    );

  describe('with replicas to wait for', () => {
    it('share one WAIT', async () => {
      const replica = await startRedis('--replicaof', ...redis.peer);
      await until(async () => (await redis.admin.info('replication')).includes('state=online'));
      const store = await open({ waitReplicas: 1 });
      await redis.admin.config('RESETSTAT');

      const answers = await Promise.all(users(50).map((user) => append(store, user)));

      expect(new Set(answers)).to.deep.equal(new Set(['appended']));
      const [, waits] = /cmdstat_wait:calls=(\d+)/.exec(await redis.admin.info('commandstats'))!;
      // Once more because of NOSCRIPT.
      expect(Number(waits)).to.be.at.most(2);
      expect(await replica.admin.keys('*:events')).to.have.lengthOf(50);
    });

    it('are queued unsent, and refused at once beyond the queue limit', async () => {
      const store = await open({ waitReplicas: 1, timeoutMs: TIMEOUT_MS, appendBounds: BOUNDS });
      const answers = users(20).map((user) => append(store, user));

      // Not before WAIT times out.
      const firstRefused = await Promise.race(answers.map((answer, index) => answer.then(() => index)));
      expect(firstRefused).to.equal(5);
      expect(store.appends.load).to.deep.include({ appends: 5, refused: 15 });
      const [first, ...rest] = await Promise.all(answers);
      expect(first).to.be.an.instanceOf(OutcomeUnknown);
      for (const refused of rest.slice(4)) expect(refused).to.be.an.instanceOf(StoreUnavailable);
      expect(await recorded()).to.deep.equal(users(5));
      await until(() => store.appends.load.appends === 0);
      expect(store.appends.load.bytes).to.equal(0);
    });

    it('are limited in bytes, too', async () => {
      const store = await open({
        waitReplicas: 1,
        timeoutMs: TIMEOUT_MS,
        appendBounds: { appends: 100, bytes: 1000 },
      });
      const answers = await Promise.all(users(50).map((user) => append(store, user)));
      const refused = answers.filter((answer) => answer instanceof StoreUnavailable);
      expect(refused).to.have.length.within(35, 45);
      expect(await recorded()).to.have.length(50 - refused.length);
    });

    it('have an unknown outcome while fewer replicas than required have confirmed them', async () => {
      await startRedis('--replicaof', ...redis.peer);
      await until(async () => {
        await redis.admin.set('written', 'to be waited for');
        return (await redis.admin.wait(1, 50)) === 1;
      });
      const store = await open({ waitReplicas: 2, timeoutMs: 2000 });
      expect(await append(store, 'alice')).to.be.an.instanceOf(OutcomeUnknown);
      expect(await recorded()).to.deep.equal(['alice']);
    });

    it('conflict without the confirmation of a replica: they have written nothing', async () => {
      const others = await openStore(redis.url);
      expect(await append(others.store, 'alice')).to.equal('appended');
      await others.close();
      const store = await open({ waitReplicas: 1, timeoutMs: 4000 });
      const { status } = await store.append(streamName('alice'), BEGINNING, 'another commit', encoded(fern));
      expect(status).to.equal('conflict');
    });

    it('have an unknown outcome by the reply of WAIT, which comes before its command times out', async () => {
      const store = await open({ waitReplicas: 1, timeoutMs: 2000 });
      const failure = await append(store, 'alice');
      expect(failure).to.be.an.instanceOf(OutcomeUnknown);
      expect(String(failure)).to.include('WAIT for 1 replicas was answered: 0');
    });

    for (const script of ['knows', 'does not know'])
      it(`fail as unavailable when they are not sent in time, and Redis ${script} the script`, async () => {
        const store = await open({ waitReplicas: 1, timeoutMs: TIMEOUT_MS / 2 });
        await redis.admin.script('FLUSH');
        if (script === 'knows') await redis.admin.script('LOAD', APPEND.text);
        await redis.freeze();
        const first = append(store, 'sent');
        // It is a batch of its own.
        await new Promise(process.nextTick);
        const [sent, unsent] = await Promise.all([first, append(store, 'unsent')]);
        // Before the connection times out: from now on, an append that is left in the queue would be sent.
        await redis.thaw();

        expect(sent).to.be.an.instanceOf(OutcomeUnknown);
        expect(unsent).to.be.an.instanceOf(StoreUnavailable);
        expect(unsent).to.have.property('message', 'the append could not be sent to Redis in time');
        await until(async () => (await append(store, 'later')) instanceof OutcomeUnknown);
        expect(await recorded()).not.to.include('unsent');
      });
  });

  describe('without replicas to wait for', () => {
    it('are refused at once beyond the queue limit, and counted until Redis answers or the connection ends', async () => {
      const store = await open({ timeoutMs: 1000, appendBounds: BOUNDS });
      await redis.freeze();
      const answers = await Promise.all(users(20).map((user) => append(store, user)));

      for (const sent of answers.slice(0, 5)) expect(sent).to.be.an.instanceOf(OutcomeUnknown);
      for (const refused of answers.slice(5)) expect(refused).to.be.an.instanceOf(StoreUnavailable);
      // They have timed out, but Redis may still execute them.
      expect(store.appends.load.appends).to.equal(5);
      await redis.thaw();
      await until(() => store.appends.load.appends === 0);
      await until(async () => (await append(store, 'later')) === 'appended');
    });
  });
});
