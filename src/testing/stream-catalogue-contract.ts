/**
 * The executable contract of the StreamCatalogue port. Like that of the EventStore port, it is a list of cases for any test
 * framework, and the store need not be empty.
 */
import assert from 'node:assert/strict';
import { BEGINNING, type StreamCatalogue, type StreamName } from '../event-sourcing';
import { Stream, assertHistory, nextCommit, recorded } from './a-stream';
import { type Cases, type Subject, assertClosed } from './case';
import type { PortOptions } from './options';
import type { OpenStore } from './place';
import { oddNames } from './reading';
import { type ContractCase, contractCases } from './run-cases';

export interface CatalogueOptions extends PortOptions {
  /** More streams than the catalogue finds by one call to the store; 2,500 by default. */
  readonly manyStreams?: number;
}

/** The cases. Each opens a store with its catalogue by `open`, and closes it at its end. */
export function streamCatalogueContract(
  open: () => OpenWithCatalogue | Promise<OpenWithCatalogue>,
  { manyStreams = 2500, durable = false, shared = false, ...options }: CatalogueOptions = {},
): ContractCase[] {
  const groups = [listing(manyStreams), erasing, durable ? reopening : {}, shared ? sharing : {}, closing];
  return contractCases(open, options, { examples: groups });
}

type OpenWithCatalogue = OpenStore & { readonly catalogue: StreamCatalogue };

const listing = (many: number): Cases => ({
  'a catalogue lists and finds every stream, with any name, once and with its last version': async (
    subject,
  ) => {
    const streams = oddNames().map((name) => new Stream(subject.store, name));
    for (const [index, stream] of streams.entries())
      await stream.grow(BEGINNING, subject.events(1 + (index % 3)));
    const expected = streams.map(({ name }, index) => ({ stream: name, version: 1 + (index % 3) }));
    await assertListed(subject, streams, expected);
    for (const one of expected) assert.deepEqual(await subject.place.catalogue.find(one.stream), one);
  },

  'a catalogue counts events and not commits, and those that were appended last': async (subject) => {
    const stream = subject.aStream();
    const head = await stream.add(BEGINNING, ...subject.few);
    await assertCatalogued(subject, stream, 4);
    await stream.add(head, subject.few[0]);
    await assertCatalogued(subject, stream, 5);
  },

  'a catalogue does not have a stream that was only read': async (subject) => {
    const stream = subject.aStream();
    await stream.read(BEGINNING);
    await assertCatalogued(subject, stream, 0);
  },

  'a catalogue lists each of many streams once, while others are erased and appended to': async (subject) => {
    const { catalogue } = subject.place;
    const streams = Array.from({ length: many }, () => subject.aStream());
    const append = (stream: Stream) => stream.add(BEGINNING, subject.few[0]);
    await allOf(streams, append);
    const names = namesOf(streams);
    const listed: StreamName[] = [];
    const erased = streams.filter((_, index) => index % 2 === 0);
    let changed = false;
    for await (const one of catalogue.streams()) {
      if ('foreign' in one || !names.has(one.stream)) continue;
      listed.push(one.stream);
      if (changed) continue;
      changed = true;
      await allOf(erased, ({ name }) => catalogue.erase(name));
      await allOf([subject.aStream(), subject.aStream()], append);
    }
    const left = streams.filter((_, index) => index % 2 === 1).map(({ name }) => name);
    assert.equal(new Set(listed).size, listed.length, 'a stream is listed twice');
    const missing = left.filter((name) => !listed.includes(name));
    assert.deepEqual(missing, [], `${missing.length} of ${left.length} streams are not listed`);
  },
});

const erasing: Cases = {
  'an erasure removes all events of the stream, returns their number, and lists it no more': async (
    subject,
  ) => {
    const stream = subject.aStream();
    await stream.grow(BEGINNING, subject.events(60));
    assert.equal(await subject.place.catalogue.erase(stream.name), 60);
    assert.deepEqual(await stream.history(), []);
    await assertCatalogued(subject, stream, 0);
  },

  'an erasure removes nothing of any other stream': async (subject) => {
    const [event] = subject.few;
    const [first, ...others] = oddNames().map((name) => new Stream(subject.store, name));
    for (const name of [`${first!.name}x`, first!.name.toUpperCase()] as StreamName[])
      others.push(new Stream(subject.store, name));
    const heads = [];
    for (const stream of [first!, ...others]) heads.push(await stream.add(BEGINNING, event));
    await subject.place.catalogue.erase(first!.name);
    for (const [index, stream] of others.entries())
      assertHistory(await stream.history(), recorded(BEGINNING, heads[index + 1]!.commit, [event]));
  },

  'an erasure of a stream that does not exist returns 0': async (subject) => {
    const { name } = subject.aStream();
    assert.equal(await subject.place.catalogue.erase(name), 0);
    assert.equal(await subject.place.catalogue.find(name), undefined);
  },

  'an erasure makes every head of the stream unknown, also once another history has its version': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [a, b] = subject.few;
    const one = await stream.add(BEGINNING, a);
    const two = await stream.add(one, b);
    await subject.place.catalogue.erase(stream.name);
    for (const again of [false, true]) {
      if (again) await stream.add(await stream.add(BEGINNING, b), a);
      for (const head of [one, two]) {
        assert.deepEqual(await stream.read(head), { status: 'reset' });
        assert.deepEqual(await stream.append(head, nextCommit(), [b]), { status: 'reset' });
      }
      assert.equal((await stream.history()).length, again ? 2 : 0);
    }
  },

  'an erasure lets the stream start again at version 1, also with a commit id of before': async (subject) => {
    const stream = subject.aStream();
    const [a, b] = subject.few;
    const { commit } = await stream.add(BEGINNING, a);
    await stream.add({ version: 1, commit }, a, b);
    await subject.place.catalogue.erase(stream.name);
    const again = { status: 'appended', head: { version: 1, commit } };
    assert.deepEqual(await stream.append(BEGINNING, commit, [b]), again);
    assertHistory(await stream.history(), recorded(BEGINNING, commit, [b]));
    await assertCatalogued(subject, stream, 1);
  },
};

const reopening: Cases = {
  'a reopened store has the catalogue of before, without the streams that were erased': async (subject) => {
    const [kept, erased] = [subject.aStream(), subject.aStream()];
    for (const stream of [kept, erased]) await stream.grow(BEGINNING, subject.events(3));
    await subject.place.catalogue.erase(erased.name);
    await subject.place.reopen();
    await assertCatalogued(subject, kept, 3);
    await assertCatalogued(subject, erased, 0);
  },
};

const sharing: Cases = {
  'two stores on one place: the catalogue of one lists and erases the streams of the other at once': async (
    subject,
  ) => {
    const stream = subject.aStream();
    await subject.place.open();
    const { catalogue: other } = subject.place;
    await assertCatalogued(subject, stream, 0);
    const head = await stream.add(BEGINNING, subject.few[0]);
    await assertCatalogued(subject, stream, 1);
    assert.equal(await other.erase(stream.name), 1);
    assert.deepEqual(await stream.read(head), { status: 'reset' });
    assert.deepEqual(await stream.history(), []);
  },
};

const closing: Cases = {
  'a closed store is unavailable to its catalogue: each call rejects with StoreUnavailable': async (
    subject,
  ) => {
    const { catalogue } = subject.place;
    const stream = subject.aStream();
    await stream.add(BEGINNING, subject.few[0]);
    await assertClosed(subject.place, {
      'the list of the streams': () => catalogue.streams()[Symbol.asyncIterator]().next(),
      'a find': () => catalogue.find(stream.name),
      'an erasure': () => catalogue.erase(stream.name),
    });
  },
};

/** Asserts that the stream is found and listed at this version; 0 if it is neither. */
async function assertCatalogued(subject: Subject, stream: Stream, version: number): Promise<void> {
  const expected = version === 0 ? [] : [{ stream: stream.name, version }];
  const found = await subject.place.catalogue.find(stream.name);
  assert.deepEqual(found === undefined ? [] : [found], expected);
  await assertListed(subject, [stream], expected);
}

async function assertListed(
  { place }: Subject,
  streams: readonly Stream[],
  expected: readonly { readonly stream: StreamName; readonly version: number }[],
): Promise<void> {
  const names = namesOf(streams);
  const listed = [];
  for await (const one of place.catalogue.streams())
    if (!('foreign' in one) && names.has(one.stream)) listed.push(one);
  const order = (all: typeof expected) => [...all].sort((one, other) => (one.stream < other.stream ? -1 : 1));
  assert.deepEqual(order(listed), order(expected));
}

function namesOf(streams: readonly Stream[]): Set<StreamName> {
  return new Set(streams.map(({ name }) => name));
}

/** Calls `work` for each stream, for a hundred at a time. */
async function allOf(streams: readonly Stream[], work: (stream: Stream) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < streams.length; start += 100)
    await Promise.all(streams.slice(start, start + 100).map(work));
}
