/** Suite of the contract for stores with a feed: all commits of a bucket in one order. */
import assert from 'node:assert/strict';
import { BEGINNING, FEED_BEGINNING, type FeedPosition, positionOf } from '../event-sourcing';
import { Stream, assertStatus, nextCommit } from './a-stream';
import { type Cases, assertClosed } from './case';
import { type Commit, Follower, commitOf, followerOf, streamsOfOneBucket, watchFeed } from './feed-follower';

export const feedExamples: Cases = {
  'a feed has one entry for each append, in the order of the commits of all streams of a bucket': async (
    subject,
  ) => {
    const { feed } = subject.place;
    const streams = [...streamsOfOneBucket(subject), subject.aStream()];
    const [a, b, c] = subject.few;
    const before = new Map<number, FeedPosition>();
    for (const { name } of streams) before.set(feed.bucketOf(name), await feed.end(feed.bucketOf(name)));
    const heads = streams.map(() => BEGINNING);
    const commits: Commit[] = [];
    for (const index of [0, 1, 2, 1, 0, 0, 2, 1]) {
      const stream = streams[index]!;
      heads[index] = await stream.add(heads[index]!, ...[a, b, c].slice(commits.length % 3));
      commits.push({ stream: stream.name, ...heads[index] });
    }

    for (const [bucket, start] of before) {
      const follower = new Follower(feed, bucket, start);
      const entries = await follower.newer();
      assert.deepEqual(
        entries.map(commitOf),
        commits.filter(({ stream }) => feed.bucketOf(stream) === bucket),
      );
      assert.deepEqual(await feed.end(bucket), follower.position);
      for (const [index, entry] of entries.entries())
        assert.deepEqual(await new Follower(feed, bucket, entry).newer(), entries.slice(index + 1));
    }
  },

  'a feed has one entry for an append that is repeated, and none for one that wrote nothing': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [a, b, c] = subject.few;
    const follower = await followerOf(subject, stream);
    const commit = nextCommit();

    for (let times = 0; times < 2; times++) await stream.append(BEGINNING, commit, [a, b]);
    assertStatus(await stream.append(BEGINNING, nextCommit(), [c]), 'conflict');
    assertStatus(await stream.append({ version: 2, commit: nextCommit() }, nextCommit(), [c]), 'reset');

    const [entry, ...others] = await follower.newer();
    assert.deepEqual([entry && commitOf(entry), others], [{ stream: stream.name, version: 2, commit }, []]);
  },

  'a feed read after a position that it does not have results in `reset`, with the newest shared one': async (
    subject,
  ) => {
    const { feed } = subject.place;
    const stream = subject.aStream();
    const follower = await followerOf(subject, stream);
    const { bucket } = follower;
    await stream.grow(BEGINNING, subject.events(60));
    const [first, second] = (await follower.newer()).map(positionOf) as [FeedPosition, FeedPosition];

    const lost = (sequence: number): FeedPosition => ({ sequence, commit: nextCommit() });
    const reset = (shared?: FeedPosition) => ({ status: 'reset', shared }) as const;
    for (const after of [
      lost(second.sequence),
      lost(second.sequence + 1),
      lost(0),
      { ...first, commit: second.commit },
    ]) {
      assert.deepEqual(await feed.read(bucket, [after]), reset());
      assert.deepEqual(await feed.read(bucket, [after, lost(second.sequence), first]), reset(first));
      assert.deepEqual(await feed.read(bucket, [after, second, first]), reset(second));
    }
  },

  'a feed, concurrently: no entry is skipped or doubled, and the events of each can be read': async (
    subject,
  ) => {
    await watchFeed(subject, [subject.store]);
  },

  'a feed without the entries of an erased stream keeps all positions': async (subject) => {
    if (!subject.place.erases) return;
    const { catalogue, feed } = subject.place;
    const [erased, other] = streamsOfOneBucket(subject);
    const follower = await followerOf(subject, erased);
    const [a, b] = subject.few;
    const { bucket, position: before } = follower;
    const one = await erased.add(BEGINNING, a);
    const two = await other.add(BEGINNING, a);
    await erased.add(one, b);
    const positions = (await follower.newer()).map(positionOf);

    await catalogue.erase(erased.name);

    const left = [{ ...positions[1]!, stream: other.name, version: 1 }];
    assert.deepEqual(await feed.end(bucket), positions[2]);
    for (const [index, position] of [before, ...positions].entries())
      assert.deepEqual(
        await new Follower(feed, bucket, position).newer(),
        index < 2 ? left : [],
        `read after entry ${index} of 3, of which the first and the last were erased`,
      );
    const next = await other.add(two, b);
    const again = await erased.add(BEGINNING, b);
    assert.deepEqual((await follower.newer()).map(commitOf), [
      { stream: other.name, ...next },
      { stream: erased.name, ...again },
    ]);
    assertStatus(await feed.read(bucket, [{ ...positions[0]!, commit: nextCommit() }]), 'reset');
  },

  'a feed that was trimmed says so at a position whose next entry is gone, and skips nothing': async (
    subject,
  ) => {
    const { feed } = subject.place;
    const stream = subject.aStream();
    const follower = await followerOf(subject, stream);
    const { bucket, position: before } = follower;
    const positions = [before];
    let head = BEGINNING;
    while ((await feed.read(bucket, [before], 1)).status !== 'trimmed') {
      assert(positions.length < 20 * subject.feedLength + 1000, 'the feed is never trimmed');
      head = await stream.add(head, subject.few[0]);
      const entries = await follower.newer();
      assert.deepEqual(
        entries.map(({ commit }) => commit),
        [head.commit],
      );
      positions.push(follower.position);
    }
    // The newest one.
    let kept = 1;
    for (const [index, position] of positions.slice(0, -1).entries()) {
      const result = await feed.read(bucket, [position], 1);
      if (kept === 1 && result.status === 'trimmed') continue;
      assertStatus(result, 'read');
      assert.deepEqual(result.entries.map(positionOf), [positions[index + 1]]);
      kept++;
    }
    assert(kept >= subject.feedLength, `it keeps ${kept} entries, and must keep ${subject.feedLength}`);
  },

  'a feed notifies once a bucket has entries after a position': async (subject) => {
    const { feed } = subject.place;
    if (feed.notify === undefined) return;
    const stream = subject.aStream();
    const { bucket, position } = await followerOf(subject, stream);
    let cancelled = true;
    feed.notify(bucket, position, () => (cancelled = false))();
    let notified!: () => void;
    const notification = new Promise<void>((resolve) => (notified = resolve));
    feed.notify(bucket, position, notified);
    await stream.add(BEGINNING, subject.few[0]);
    await notification;
    await new Promise<void>((resolve) => feed.notify!(bucket, position, resolve));
    assert(cancelled, 'a notification that was cancelled must not come');
  },

  'a feed of a closed store is unavailable': async (subject) => {
    const { feed } = subject.place;
    await assertClosed(subject.place, {
      'a read of the feed': () => feed.read(0, [FEED_BEGINNING]),
      'the end of the feed': () => feed.end(0),
    });
  },
};

export const durableFeedExamples: Cases = {
  'a reopened store has the same feed': async (subject) => {
    const stream = subject.aStream();
    const { bucket, position } = await followerOf(subject, stream);
    const entries = () => new Follower(subject.place.feed, bucket, position).newer();
    const head = await stream.add(BEGINNING, subject.few[0]);
    const before = await entries();
    const store = await subject.place.reopen();
    assert.deepEqual(await entries(), before);
    await new Stream(store, stream.name).add(head, subject.few[1]);
    assert.deepEqual((await entries()).slice(0, -1), before);
  },
};

export const sharedFeedExamples: Cases = {
  'two stores on one place have one feed: no entry is skipped or doubled': async (subject) => {
    await watchFeed(subject, [subject.store, await subject.place.open()]);
  },
};
