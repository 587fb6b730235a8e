import { expect } from 'chai';
import { BEGINNING, StoreUnavailable } from '../../../src/event-sourcing';
import { encoded, ferns } from '../../support/given';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { oddServer } from './odd-server';
import { openedPerTest } from './opened';

const [fern] = encoded(...ferns(1));
const FAILOVER = 'master plants 127.0.0.1 1';

/** A Redis that answers SENTINEL like a Sentinel, and publishes what a test lets it. */
class Scripted {
  readonly #ends: (() => unknown)[] = [];
  #asked = 0;
  #port = 0;

  constructor(
    readonly redis: RedisServer,
    public primary: RedisServer,
    public epoch: number,
  ) {}

  async start(): Promise<this> {
    const { url, close } = await oddServer(this.redis, (command) => {
      if (command !== 'SENTINEL') return undefined;
      // First SENTINEL MASTER, then SENTINEL GET-MASTER-ADDR-BY-NAME.
      const texts =
        this.#asked++ % 2 === 0
          ? ['config-epoch', String(this.epoch), 'down-after-milliseconds', '5000']
          : this.primary.peer;
      return ['EVAL', `return {${texts.map((text) => `'${text}'`).join()}}`, '0'];
    });
    this.#ends.push(close);
    this.#port = Number(new URL(url).port);
    return this;
  }

  get address() {
    return { host: '127.0.0.1', port: this.#port };
  }

  async slowed(delayMs: number): Promise<this> {
    const proxy = await TcpProxy.to({ port: this.#port });
    proxy.delayMs = delayMs;
    this.#ends.push(() => proxy.close());
    this.#port = proxy.port;
    return this;
  }

  /** Once the store listens. */
  async publish(channel: string, message: string): Promise<void> {
    await until(async () => Number(await this.redis.admin.pubsub('NUMPAT')) > 0);
    await this.redis.admin.publish(channel, message);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}

describeOwnRedis('The Sentinels', (startRedis) => {
  const opened = openedPerTest();
  let first: RedisServer;
  let second: RedisServer;
  let one: Scripted;
  let other: Scripted;

  before(async function () {
    needsLocalServers(this, await startRedis(), 'Sentinel');
  });
  beforeEach(async () => {
    const servers = await Promise.all([1, 2, 3, 4].map(() => startRedis()));
    [first, second] = servers as [RedisServer, RedisServer];
    await second.admin.set('plant-store:id', 'buckets-64 the-store');
    await first.admin.set('plant-store:id', 'buckets-64 the-store');
    one = await new Scripted(servers[2]!, first, 3).start();
    other = await new Scripted(servers[3]!, first, 3).start();
  });
  afterEach(() => Promise.all([one.end(), other.end()]));

  const open = (...nodes: { host: string; port: number }[]) =>
    opened({
      url: 'redis://x',
      sentinels: { nodes, master: 'plants' },
      allowUnreachable: false,
      examineEveryMs: 3_600_000,
    });
  const events = async ({ admin }: RedisServer) => (await admin.keys('*:events')).length;
  const append = ({ stream }: Awaited<ReturnType<typeof open>>, user: string) =>
    stream(user).append(BEGINNING, 'ours', [fern!]);

  for (const newest of ['the first', 'the last'])
    it(`name the primary of the newest configuration, which only ${newest} of them knows`, async () => {
      const knows = newest === 'the first' ? one : other;
      Object.assign(knows, { primary: second, epoch: 4 });
      await append(await open(one.address, other.address), 'alice');
      expect([await events(first), await events(second)]).to.deep.equal([0, 1]);
    });

  it('name it while others are frozen or gone', async () => {
    const frozen = await startRedis();
    await frozen.freeze();
    const gone = { host: '127.0.0.1', port: 1 };
    await append(await open({ host: frozen.host, port: frozen.port }, gone, one.address), 'alice');
    expect(await events(first)).to.equal(1);
  });

  it('name it although the slower one has learned of a switch before the others', async () => {
    await other.slowed(300);
    const store = await open(one.address, other.address);
    Object.assign(other, { primary: second, epoch: 4 });
    await other.publish('+try-failover', FAILOVER);
    await other.publish('+switch-master', `plants ${first.peer.join(' ')} ${second.peer.join(' ')}`);
    await until(() => store.log.some((line) => line.includes('fails over')));
    await until(
      () =>
        append(store, 'alice').then(
          () => true,
          () => false,
        ),
      // Without the message of the switch it takes ten seconds.
      8000,
    );
    expect([await events(first), await events(second)]).to.deep.equal([0, 1]);
  });

  it('name another one once a connection to one of them is back, which has missed the switch', async () => {
    const store = await open(one.address);
    Object.assign(one, { primary: second, epoch: 4 });
    await one.redis.admin.client('KILL', 'TYPE', 'PUBSUB');
    await until(() => store.log.some((line) => line.includes('fails over')));
    await until(() =>
      append(store, 'alice').then(
        () => true,
        () => false,
      ),
    );
    expect(await events(second)).to.equal(1);
  });

  for (const [what, begins, ends] of [
    ['is not elected', '+try-failover', '-failover-abort-not-elected'],
    ['finds no replica', '+failover-state-select-slave', '-failover-abort-no-good-slave'],
    ['takes too long', '+failover-state-send-slaveof-noone', '-failover-abort-slave-timeout'],
  ] as const)
    it(`use the same primary again after a failover that ${what}`, async () => {
      const store = await open(one.address, other.address);
      await one.publish(begins, 'master ferns 127.0.0.1 1');
      for (const user of ['alice', 'carol', 'dave', 'erin']) await append(store, user);
      await one.publish(begins, FAILOVER);
      await until(() => !store.status().writes);
      expect(await rejection(append(store, 'bob'))).to.be.instanceOf(StoreUnavailable);
      await one.publish(ends, FAILOVER);
      await until(() => store.status().writes);
      await append(store, 'bob');
      expect(await events(first)).to.equal(5);
    });
});
