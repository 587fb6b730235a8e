/** First suite of the contract, continued: one example for each promise about what is read back, and where. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { BEGINNING, type Head, headOf } from '../application';
import type { PlantEvent } from '../domain';
import { Stream, assertPage, assertStatus, fern, gone, moss, recorded } from './a-stream';
import type { Cases, Subject } from './case';
import { MAX_INT64, MIN_INT64, created, deleted, plantId } from './events';

const NOTHING_NEWER = { status: 'read', events: [], more: false };

export const readingExamples: Cases = {
  'a read of a stream that was never written finds it empty': async (subject) => {
    assert.deepEqual(await subject.aStream().read(BEGINNING), NOTHING_NEWER);
  },

  'a read goes on behind any event, also inside of a commit, and at the end finds nothing': async (
    subject,
  ) => {
    const stream = subject.aStream();
    await stream.add(await stream.add(BEGINNING, fern), moss, gone, created(3, 'Aloe'));
    const history = await stream.history();
    for (const event of history) {
      assert.deepEqual(await stream.history(headOf(event)), history.slice(event.version));
    }
  },

  'a read hands a history of two full pages over page by page, up to its end': (subject) =>
    readsPageByPage(subject, 2 * subject.pageSize),

  'a read hands a history of two pages and one event over page by page, up to its end': (subject) =>
    readsPageByPage(subject, 2 * subject.pageSize + 1),

  'a read stays as it was answered when more is appended': async (subject) => {
    const stream = subject.aStream();
    const head = await stream.add(BEGINNING, fern);
    const answer = await stream.read(BEGINNING);
    await stream.add(head, moss);
    await stream.history();
    const events = recorded(BEGINNING, head.commit, [fern]);
    assert.deepEqual(answer, { status: 'read', events, more: false });
  },

  'streams are apart, whatever they are called': async ({ store }) => {
    const streams = oddNames().map((name) => new Stream(store, name));
    const heads: Head[] = [];
    for (const [index, stream] of streams.entries()) {
      heads.push(await stream.add(BEGINNING, created(index, stream.name)));
    }
    for (const [index, stream] of streams.entries()) {
      const events = recorded(BEGINNING, heads[index]!.commit, [created(index, stream.name)]);
      assert.deepEqual([stream.name, await stream.history()], [stream.name, events]);
    }
  },

  "streams do not know each other's histories": async (subject) => {
    const [one, other] = [subject.aStream(), subject.aStream()];
    const head = await one.add(BEGINNING, fern);
    await other.add(BEGINNING, fern);
    assert.deepEqual(await other.read(head), { status: 'reset' });
  },

  'what was handed in comes back exactly': async (subject) => {
    const stream = subject.aStream();
    const events: PlantEvent[] = [
      ...ODD_TEXTS.map((text, index) => created(index, text, text)),
      created(100, 'no tag'),
      created(101, 'empty tag', ''),
      ...EXTREME_IDS.flatMap((id) => [created(id, 'Fern'), deleted(id)]),
    ];
    const head = await stream.add(BEGINNING, ...events);
    assert.deepEqual(await stream.history(), recorded(BEGINNING, head.commit, events));
  },
};

async function readsPageByPage(subject: Subject, length: number): Promise<void> {
  const stream = subject.aStream();
  const head = await stream.grow(BEGINNING, length);

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

const EXTREME_IDS = [MIN_INT64, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, MAX_INT64].map(
  plantId,
);

const ODD_TEXTS = [
  'Büschelfarn, 観葉植物, نبتة',
  '🌵👩🏽‍🌾',
  'e\u0301 is not \u00e9',
  '"quoted" \\ and \'quoted\'',
  'null',
  '{"name":"Fern"}',
  '0123',
  ' blanks around ',
  'line\r\nbreak\ttab \u2028\u2029\u0085',
  'a \ufffd that was meant',
  '\0\x01\x7f\ufeff\uffff\u{10ffff}',
  '__proto__',
  'long '.repeat(10_000),
];

const ODD_NAMES =
  '{ } {} {a} %7Ba%7D % %25 %00 : :events / %2F .. \\ | * ? [a] " \' # + é e\u0301 A a 🌵 __proto__ constructor';

/** Names that a careless encoding would mix up with each other, none of them used before. */
function oddNames(): string[] {
  const unique = randomUUID().slice(0, 8);
  const odd = ['', ' ', '\0', '\n', ...ODD_NAMES.split(' ')];
  const names = odd.flatMap((text) => [`${text}${unique}`, `${unique}${text}`, `${text}${unique}${text}`]);
  names.push(unique.padEnd(255, 'x'), unique.padEnd(254, 'x'), unique + '🌵'.repeat(255 - unique.length));
  return [...new Set(names)];
}
