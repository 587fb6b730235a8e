import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import {
  BEGINNING,
  FEED_BEGINNING,
  type FeedPosition,
  type FeedTrail,
  type Head,
  StoreUnavailable,
  withPosition,
} from '../../../src/event-sourcing';
import { encoded, ferns, plantsOf } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { openStore } from './open-store';

const FEED = 'plant-store:{39}:feed';
const BUCKET = 39;
/** Both are in the bucket of {@link FEED}. */
const [alice, other] = [plantsOf('alice'), plantsOf('user106')];
const FEED_LENGTH = 100;

describeOwnRedis('The feed of a store in Redis', (startRedis) => {
  let redis: RedisServer;
  let opened: Awaited<ReturnType<typeof openStore>>;
  let heads: Map<string, Head>;
  let commits: number;

  beforeEach(async () => {
    redis = await startRedis();
    opened = await openStore(redis.url, { feedLength: FEED_LENGTH });
    heads = new Map();
    commits = 0;
  });
  afterEach(() => opened.close());

  /** Appends an event to each of the streams, in order. Resolves with the positions of the entries. */
  async function append(...streams: readonly (typeof alice)[]): Promise<FeedPosition[]> {
    const positions = [];
    for (const stream of streams) {
      const head = heads.get(stream) ?? BEGINNING;
      const result = await opened.store.append(stream, head, `commit ${++commits}`, encoded(...ferns(1)));
      if (result.status !== 'appended') throw new Error(result.status);
      heads.set(stream, result.head);
      positions.push(await opened.feed.end(BUCKET));
    }
    return positions;
  }

  async function erase(stream: typeof alice): Promise<void> {
    heads.delete(stream);
    await opened.catalogue.erase(stream);
  }

  /** The commits of the entries after a position, or the status of the read. */
  async function after(...trail: FeedTrail): Promise<readonly string[] | string> {
    const result = await opened.feed.read(BUCKET, trail);
    return result.status === 'read' ? result.entries.map(({ commit }) => commit) : result.status;
  }

  it('keeps the positions of erased entries, and has no name of the user', async () => {
    const [one, two, three] = await append(alice, alice, other);
    const [four] = await append(alice);
    // Twice: the first one may have been confirmed by too few replicas.
    for (let times = 0; times < 2; times++) {
      await erase(alice);
      for (const position of [FEED_BEGINNING, one!, two!])
        expect(await after(position)).to.deep.equal([three!.commit]);
      for (const position of [three!, four!]) expect(await after(position)).to.deep.equal([]);
      expect(await opened.feed.end(BUCKET)).to.deep.equal(four);
    }
    const values = [await redis.admin.xrange(FEED, '-', '+'), await redis.admin.hgetall(`${FEED}:erased`)];
    expect(JSON.stringify(values)).to.include(other).and.to.not.include('alice');
    const [five] = await append(other);
    expect(await after(four!)).to.deep.equal([five!.commit]);
  });

  it('is trimmed at the position of an erased entry, too, which the next erasure forgets', async () => {
    const [one, two] = await append(alice, alice, other);
    await erase(alice);
    while ((await redis.admin.xrange(FEED, '-', '+', 'COUNT', 1))[0]![0] === '0-3') await append(other);

    for (const position of [FEED_BEGINNING, one!, two!]) expect(await after(position)).to.equal('trimmed');
    expect(await redis.admin.hlen(`${FEED}:erased`)).to.equal(2);
    await erase(alice);
    expect(await redis.admin.hlen(`${FEED}:erased`)).to.equal(0);
    expect(await redis.admin.xlen(FEED)).to.be.within(FEED_LENGTH, 3 * FEED_LENGTH);
  });

  it('reveals a lost end although an append of it is repeated, and has its old number again', async () => {
    const [shared] = await append(alice, other);
    const replica = await startRedis('--replicaof', ...redis.peer);
    while ((await replica.admin.xlen(FEED)) < 2) await pause(10);
    await replica.admin.replicaof('NO', 'ONE');
    const known = new Map(heads);
    const [, lost] = await append(other, alice);
    await opened.close();

    opened = await openStore(replica.url);
    heads = known;
    await append(other);
    const { store } = opened;
    await store.append(alice, known.get(alice)!, lost!.commit, encoded(...ferns(1)));

    expect(await opened.feed.end(BUCKET)).to.include({ sequence: lost!.sequence, commit: lost!.commit });
    expect(await opened.feed.read(BUCKET, [lost!, shared!])).to.deep.equal({ status: 'reset', shared });
  });

  it('reveals by each position that a failover lost its end, and names the newest shared one', async () => {
    let trail: FeedTrail = [FEED_BEGINNING];
    for (const position of await append(alice, other, alice)) trail = withPosition(trail, position);
    const shared = trail[0];
    const replica = await startRedis('--replicaof', ...redis.peer);
    while ((await replica.admin.xlen(FEED)) < 3) await pause(10);
    await replica.admin.replicaof('NO', 'ONE');
    const known = new Map(heads);
    const lost = await append(alice, other, alice, other);
    await opened.close();

    opened = await openStore(replica.url);
    heads = known;
    for (let commit = 0; commit < 6; commit++) {
      for (const position of lost) {
        const result = await opened.feed.read(BUCKET, withPosition(trail, position));
        expect(result, `after ${commit} commits`).to.deep.equal({ status: 'reset', shared });
      }
      await append(commit % 2 === 0 ? other : alice);
    }
    expect(await after(shared)).to.have.lengthOf(6);
  });

  it('is not read from a server that was demoted, and may be stale', async () => {
    const [position] = await append(alice);
    await redis.admin.replicaof('127.0.0.1', 1);
    const calls = [opened.feed.read(BUCKET, [position!]), opened.feed.end(BUCKET)];
    for (const error of await Promise.all(calls.map(rejection)))
      expect(error).to.be.an.instanceOf(StoreUnavailable);
  });

  it('is not written by another program: then no append writes anything', async () => {
    await redis.admin.set(FEED, 'a text');
    expect(await rejection(append(alice))).to.be.an.instanceOf(StoreUnavailable);
    expect(await redis.admin.keys('*')).to.deep.equal([FEED]);
    await redis.admin.del(FEED);
    await redis.admin.xadd(FEED, '*', 'other', 'fields');
    expect(await rejection(append(alice))).to.be.an.instanceOf(StoreUnavailable);
    expect(await redis.admin.keys('*')).to.deep.equal([FEED]);
  });
});
