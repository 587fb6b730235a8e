/** Helpers of the contract of a feed: a consumer, and concurrent work on it. */
import assert from 'node:assert/strict';
import { setImmediate as otherWork } from 'node:timers/promises';
import {
  BEGINNING,
  type EventStore,
  type Feed,
  type FeedEntry,
  type FeedPosition,
  type FeedTrail,
  positionOf,
} from '../event-sourcing';
import { Stream, assertStatus } from './a-stream';
import type { Subject } from './case';

/** What an entry says, besides its place in the feed. */
export type Commit = Omit<FeedEntry, 'sequence' | 'attempt'>;

/** Lets writers append through `stores` to several streams, while a follower reads the feed of the last one. */
export async function watchFeed(subject: Subject, stores: readonly EventStore[]): Promise<void> {
  const { feed } = subject.place;
  const streams = Array.from({ length: 8 }, () => subject.aStream());
  const buckets = new Set(streams.map(({ name }) => feed.bucketOf(name)));
  const followers = await Promise.all([...buckets].map((bucket) => followerIn(feed, bucket)));
  const appended: Commit[] = [];
  const seen: Commit[] = [];
  let writing = true;

  const write = async ({ name }: Stream) => {
    let head = BEGINNING;
    for (let times = 0; times < 20; times++) {
      const stream = new Stream(stores[times % stores.length]!, name);
      head = await stream.add(head, subject.few[0], subject.few[1]);
      appended.push({ stream: name, ...head });
    }
  };
  const follow = async () => {
    for (const follower of followers)
      for (const entry of await follower.newer()) {
        const { stream, version, commit } = entry;
        const { status } = await subject.store.read(stream, { version, commit });
        assert.equal(status, 'read', 'an entry is visible, and its events are not');
        seen.push(commitOf(entry));
      }
    // Otherwise the reads of a store in memory would starve its writes.
    await otherWork();
  };
  const followWriters = async () => {
    while (writing) await follow();
  };
  const written = Promise.all(streams.map(write)).finally(() => (writing = false));
  await Promise.all([written, followWriters()]);
  await follow();

  for (const { name } of streams)
    assert.deepEqual(
      seen.filter(({ stream }) => stream === name),
      appended.filter(({ stream }) => stream === name),
      'a consumer of the feed skipped, doubled or reordered appends of a stream',
    );
  assert.equal(seen.length, appended.length);
}

/** Reads the feed of a bucket, page by page. */
export class Follower {
  #trail: FeedTrail;

  constructor(
    private readonly feed: Feed,
    readonly bucket: number,
    after: FeedPosition,
  ) {
    this.#trail = [positionOf(after)];
  }

  get position(): FeedPosition {
    return this.#trail[0];
  }

  /** All entries after the ones before, read two at a time. */
  async newer(): Promise<FeedEntry[]> {
    const entries: FeedEntry[] = [];
    for (let more = true; more;) {
      const page = await this.feed.read(this.bucket, this.#trail, 2);
      assertStatus(page, 'read');
      assert(page.entries.length <= 2, 'a page has more entries than its limit');
      assert(!page.more || page.entries.length > 0, 'a page with `more` must not be empty');
      for (const entry of page.entries) {
        assert(entry.sequence > this.position.sequence, 'sequence numbers must increase');
        this.#trail = [positionOf(entry)];
        entries.push(entry);
      }
      more = page.more;
    }
    return entries;
  }
}

async function followerIn(feed: Feed, bucket: number): Promise<Follower> {
  return new Follower(feed, bucket, await feed.end(bucket));
}

export function followerOf({ place: { feed } }: Subject, { name }: Stream): Promise<Follower> {
  return followerIn(feed, feed.bucketOf(name));
}

/** Two new streams in one bucket. */
export function streamsOfOneBucket(subject: Subject): [one: Stream, other: Stream] {
  const { feed } = subject.place;
  const one = subject.aStream();
  for (;;) {
    const other = subject.aStream();
    if (feed.bucketOf(other.name) === feed.bucketOf(one.name)) return [one, other];
  }
}

export function commitOf({ stream, version, commit }: FeedEntry): Commit {
  return { stream, version, commit };
}
