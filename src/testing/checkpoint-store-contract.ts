/** The executable contract of the CheckpointStore port, for any test framework. */
import assert from 'node:assert/strict';
import {
  BEGINNING,
  CheckpointConflict,
  type CheckpointStore,
  type CheckpointWrite,
  type Feed,
  type Head,
  headKeyOf,
  textOfHead,
} from '../event-sourcing';
import { Stream } from './a-stream';
import { type Cases, type Subject, aProjection, assertClosed } from './case';
import { oddCommits } from './commit-ids';
import { streamsOfOneBucket } from './feed-follower';
import type { PortOptions } from './options';
import type { OpenStore } from './place';
import { oddNames } from './reading';
import { type ContractCase, contractCases } from './run-cases';

export interface CheckpointOptions extends PortOptions {
  /** Whether the store has the streams, too; false by default. Adds cases of erased streams, for which it needs the catalogue. */
  readonly erases?: boolean;
}

/**
 * The cases. Each opens a store with its feed and the checkpoints of any projection by `open`, and closes it at its end.
 * Checkpoints that are stored elsewhere than the streams are opened with any event store, such as that in memory.
 */
export function checkpointStoreContract(
  open: () => OpenWithCheckpoints | Promise<OpenWithCheckpoints>,
  { durable = false, shared = false, erases = false, ...options }: CheckpointOptions = {},
): ContractCase[] {
  const groups = [saving, erases ? erasing : {}, durable ? reopening : {}, shared ? sharing : {}, closing];
  return contractCases(open, options, { examples: groups });
}

type OpenWithCheckpoints = OpenStore & {
  readonly feed: Feed;
  readonly checkpoints: (projection: string) => CheckpointStore;
};

/** A stream that was appended to, and the keys of its bucket and of its head. */
interface Applied {
  readonly stream: Stream;
  readonly head: Head;
  readonly bucket: string;
  readonly key: string;
}

const saving: Cases = {
  'a checkpoint has no value until one is saved, and then each, in the order of the keys': async (
    subject,
  ) => {
    const [one, other] = await twoStreams(subject);
    const store = aCheckpoint(subject);
    const keys = [other.key, one.bucket, one.key];
    assert.deepEqual(await store.load(keys), [undefined, undefined, undefined]);
    await store.save(writeOf(undefined, 'first', one));
    assert.deepEqual(await store.load(keys), [undefined, 'first', textOfHead(one.head)]);
    assert.deepEqual(await store.load([...keys, one.key].reverse()), [
      textOfHead(one.head),
      textOfHead(one.head),
      'first',
      undefined,
    ]);
    assert.deepEqual(await store.load([]), []);
  },

  'a checkpoint has the values of streams with any name and any commit id, and lists their keys': async (
    subject,
  ) => {
    const store = aCheckpoint(subject);
    const commits = oddCommits();
    const all: Applied[] = [];
    for (const [index, name] of oddNames().entries()) {
      const stream = new Stream(subject.store, name);
      const commit = commits[index % commits.length]!;
      await stream.append(BEGINNING, commit, [subject.few[0]]);
      const one = appliedOf(subject, stream, { version: 1, commit });
      const [before] = await store.load([one.bucket]);
      await store.save(writeOf(before, String(index), one));
      all.push(one);
    }
    assert.deepEqual(
      await store.load(all.map(({ key }) => key)),
      all.map(({ head }) => textOfHead(head)),
    );
    for (const each of new Set(all.map(({ bucket }) => bucket))) {
      const keys = all.filter(({ bucket }) => bucket === each).map(({ key }) => key);
      assert.deepEqual((await keysOf(store, each)).sort(), keys.sort());
    }
  },

  'a checkpoint refuses a write that expects another value with CheckpointConflict, and writes nothing':
    async (subject) => {
      const [one, other] = await twoStreams(subject);
      const store = aCheckpoint(subject);
      await assertConflict(store, writeOf('never', 'lost', one));
      await store.save(writeOf(undefined, 'first', one));
      for (const expected of [undefined, 'firs', 'first ', ''])
        await assertConflict(store, writeOf(expected, 'lost', other));
      assert.deepEqual(await store.load([one.bucket, one.key, other.key]), [
        'first',
        textOfHead(one.head),
        undefined,
      ]);
    },

  'of writes at a time that expect one value, a checkpoint accepts one': async (subject) => {
    const [one] = await twoStreams(subject);
    const store = aCheckpoint(subject);
    let before: string | undefined;
    for (let round = 0; round < 10; round++) {
      const values = [0, 1, 2, 3].map((writer) => `${round} of ${writer}`);
      const saves = values.map((value) => store.save(writeOf(before, value, one)));
      const saved = (await Promise.allSettled(saves)).map(({ status }) => status === 'fulfilled');
      [before] = await store.load([one.bucket]);
      assert.deepEqual(
        values.filter((_, index) => saved[index]),
        [before],
      );
    }
  },

  'a checkpoint removes the key of a stream without a value': async (subject) => {
    const [one, other] = await twoStreams(subject);
    const store = aCheckpoint(subject);
    await store.save(writeOf(undefined, 'first', one, other));
    await store.save(writeOf('first', 'second', { ...one, head: BEGINNING }));
    assert.deepEqual(await store.load([one.bucket, one.key, other.key]), [
      'second',
      undefined,
      textOfHead(other.head),
    ]);
    assert.deepEqual(await keysOf(store, one.bucket), [other.key]);
  },

  'a checkpoint without a value of the bucket is as before its first write': async (subject) => {
    const [one, other] = await twoStreams(subject);
    const [store, another] = [aCheckpoint(subject), aCheckpoint(subject)];
    for (const each of [store, another]) await each.save(writeOf(undefined, 'first', one, other));
    const keys = [one.bucket, one.key, other.key];
    const values = new Map(keys.map((key) => [key, undefined]));
    await assertConflict(store, { key: one.bucket, expected: 'another', values });
    await store.save({ key: one.bucket, expected: 'first', values });
    assert.deepEqual(await store.load(keys), [undefined, undefined, undefined]);
    assert.deepEqual(await keysOf(store, one.bucket), []);
    assert.deepEqual(await another.load([one.bucket]), ['first']);
    await store.save(writeOf(undefined, 'again', one));
    assert.deepEqual(await store.load(keys), ['again', textOfHead(one.head), undefined]);
  },

  'checkpoints of two projections have nothing in common': async (subject) => {
    const [one] = await twoStreams(subject);
    const [first, second] = [aCheckpoint(subject), aCheckpoint(subject)];
    await first.save(writeOf(undefined, 'first', one));
    assert.deepEqual(await second.load([one.bucket, one.key]), [undefined, undefined]);
    assert.deepEqual(await keysOf(second, one.bucket), []);
    await second.save(writeOf(undefined, 'second', one));
    assert.deepEqual(await first.load([one.bucket]), ['first']);
  },
};

const erasing: Cases = {
  'an erasure removes the stream from the checkpoints of all projections, and nothing else': async (
    subject,
  ) => {
    const [one, other] = await twoStreams(subject);
    const stores = [aCheckpoint(subject), aCheckpoint(subject)];
    for (const store of stores) await store.save(writeOf(undefined, 'first', one, other));
    await subject.place.catalogue.erase(one.stream.name);
    for (const store of stores) {
      assert.deepEqual(await keysOf(store, one.bucket), [other.key]);
      assert.deepEqual(await store.load([one.bucket, one.key, other.key]), [
        'first',
        undefined,
        textOfHead(other.head),
      ]);
    }
  },

  'a checkpoint refuses the head of a stream that was erased, or that has another history now': async (
    subject,
  ) => {
    const [one, other] = await twoStreams(subject);
    const store = aCheckpoint(subject);
    await subject.place.catalogue.erase(one.stream.name);
    await assertConflict(store, writeOf(undefined, 'first', other, one));
    await one.stream.add(BEGINNING, subject.few[0]);
    await assertConflict(store, writeOf(undefined, 'first', other, one));
    assert.deepEqual(await store.load([one.bucket, one.key, other.key]), [undefined, undefined, undefined]);
    assert.deepEqual(await keysOf(store, one.bucket), []);
  },
};

const reopening: Cases = {
  'a reopened store has the checkpoint of before': async (subject) => {
    const [one] = await twoStreams(subject);
    const projection = aProjection();
    await subject.place.checkpoints(projection).save(writeOf(undefined, 'first', one));
    await subject.place.reopen();
    const store = subject.place.checkpoints(projection);
    assert.deepEqual(await store.load([one.bucket, one.key]), ['first', textOfHead(one.head)]);
    assert.deepEqual(await keysOf(store, one.bucket), [one.key]);
  },
};

const sharing: Cases = {
  'two stores on one place: one has what the other saved, and is refused what it did not expect': async (
    subject,
  ) => {
    const [one] = await twoStreams(subject);
    const projection = aProjection();
    const store = subject.place.checkpoints(projection);
    await subject.place.open();
    const other = subject.place.checkpoints(projection);
    assert.deepEqual(await store.load([one.bucket]), [undefined]);
    await other.save(writeOf(undefined, 'first', one));
    await assertConflict(store, writeOf(undefined, 'lost', one));
    assert.deepEqual(await store.load([one.bucket, one.key]), ['first', textOfHead(one.head)]);
  },
};

const closing: Cases = {
  'a closed store neither loads nor saves a checkpoint: it rejects with StoreUnavailable': async (
    subject,
  ) => {
    const [one] = await twoStreams(subject);
    const store = aCheckpoint(subject);
    await assertClosed(subject.place, {
      'a load of a checkpoint': () => store.load([one.bucket]),
      'a save of a checkpoint': () => store.save(writeOf(undefined, 'first', one)),
      'the list of the keys': () => keysOf(store, one.bucket),
    });
  },
};

/** The checkpoint of a new projection. */
function aCheckpoint({ place }: Subject): CheckpointStore {
  return place.checkpoints(aProjection());
}

/** Two streams of one bucket, with an event each. */
async function twoStreams(subject: Subject): Promise<[Applied, Applied]> {
  const streams = streamsOfOneBucket(subject);
  const applied: Applied[] = [];
  for (const stream of streams)
    applied.push(appliedOf(subject, stream, await stream.add(BEGINNING, subject.few[0])));
  return applied as [Applied, Applied];
}

function appliedOf({ place: { feed } }: Subject, stream: Stream, head: Head): Applied {
  const bucket = feed.bucketOf(stream.name);
  return { stream, head, bucket: String(bucket), key: headKeyOf(bucket, stream.name) };
}

/** A write of the heads of streams of one bucket. */
function writeOf(
  expected: string | undefined,
  value: string,
  ...applied: [Applied, ...Applied[]]
): CheckpointWrite {
  const key = applied[0].bucket;
  const heads = applied.map(({ key, head }) => [key, textOfHead(head)] as const);
  return { key, expected, values: new Map<string, string | undefined>([[key, value], ...heads]) };
}

async function keysOf(store: CheckpointStore, bucket: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.keys(`${bucket}/`)) keys.push(key);
  return keys;
}

async function assertConflict(store: CheckpointStore, write: CheckpointWrite): Promise<void> {
  await assert.rejects(async () => store.save(write), CheckpointConflict);
}
