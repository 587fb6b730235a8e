/** First suite of the contract, part 2: one example for each guarantee of reads. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { BEGINNING, type Head, type StreamName, headOf } from '../event-sourcing';
import {
  NOTHING_NEWER,
  Stream,
  assertHistory,
  assertPage,
  assertStatus,
  recorded,
  streamName,
} from './a-stream';
import { type Cases, ODD_EVENTS, type Subject } from './case';

export const readingExamples: Cases = {
  'a read of an unknown stream returns no events': async (subject) => {
    assert.deepEqual(await subject.aStream().read(BEGINNING), NOTHING_NEWER);
  },

  'a read continues after any event, even within a commit, and returns no events at the end': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [a, b, c, d] = subject.few;
    await stream.add(await stream.add(BEGINNING, a), b, c, d);
    const history = await stream.history();
    for (const event of history) {
      assert.deepEqual(await stream.history(headOf(event)), history.slice(event.version));
    }
  },

  'a read returns a history of two full pages page by page': (subject) =>
    readsPageByPage(subject, 2 * subject.pageSize),

  'a read returns a history of two pages and one event page by page': (subject) =>
    readsPageByPage(subject, 2 * subject.pageSize + 1),

  'a read returns a result that later appends do not change': async (subject) => {
    const stream = subject.aStream();
    const [a, b] = subject.few;
    const head = await stream.add(BEGINNING, a);
    const answer = await stream.read(BEGINNING);
    await stream.add(head, b);
    await stream.history();
    const events = recorded(BEGINNING, head.commit, [a]);
    assert.deepEqual(answer, { status: 'read', events, more: false });
  },

  'streams are independent, with any names': async (subject) => {
    const streams = oddNames().map((name) => new Stream(subject.store, name));
    const events = subject.events(streams.length);
    const heads: Head[] = [];
    for (const [index, stream] of streams.entries()) heads.push(await stream.add(BEGINNING, events[index]!));
    for (const [index, stream] of streams.entries()) {
      const history = recorded(BEGINNING, heads[index]!.commit, [events[index]!]);
      assert.deepEqual([stream.name, await stream.history()], [stream.name, history]);
    }
  },

  'streams do not accept heads of each other': async (subject) => {
    const [one, other] = [subject.aStream(), subject.aStream()];
    const [a] = subject.few;
    const head = await one.add(BEGINNING, a);
    await other.add(BEGINNING, a);
    assert.deepEqual(await other.read(head), { status: 'reset' });
  },

  'events are read exactly as they were appended': async (subject) => {
    const stream = subject.aStream();
    const events = [...ODD_EVENTS, ...subject.events(20)];
    const head = await stream.add(BEGINNING, ...events);
    assertHistory(await stream.history(), recorded(BEGINNING, head.commit, events));
  },
};

async function readsPageByPage(subject: Subject, length: number): Promise<void> {
  const stream = subject.aStream();
  const head = await stream.grow(BEGINNING, subject.events(length));

  const page = await stream.read(BEGINNING);
  assertStatus(page, 'read');
  assertPage(page, subject.pageSize);

  const all = await stream.rest(page);
  const versions = Array.from({ length }, (_, index) => index + 1);
  assert.deepEqual(
    all.map(({ version }) => version),
    versions,
  );
  assert.deepEqual(headOf(all.at(-1)!), head);
  assert.deepEqual(await stream.read(head), NOTHING_NEWER);
}

const ODD_NAMES =
  '{ } {} {a} %7Ba%7D % %25 %00 : :events / %2F .. \\ | * ? [a] " \' # + é e\u0301 A a 🌵 __proto__ constructor';

/** Unique names that an incorrect encoding would confuse. */
export function oddNames(): StreamName[] {
  // With a letter, which has an upper case.
  const unique = `u${randomUUID().slice(0, 7)}`;
  const odd = ['', ' ', '\0', '\n', ...ODD_NAMES.split(' ')];
  const names = odd.flatMap((text) => [`${text}${unique}`, `${unique}${text}`, `${text}${unique}${text}`]);
  names.push(unique.padEnd(255, 'x'), unique.padEnd(254, 'x'), unique + '🌵'.repeat(255 - unique.length));
  return [...new Set(names)].map(streamName);
}
