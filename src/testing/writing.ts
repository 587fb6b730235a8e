/** First suite of the contract, part 1: one example for each guarantee of appends. */
import assert from 'node:assert/strict';
import { BEGINNING, type Head } from '../event-sourcing';
import { assertHistory, assertPage, assertStatus, nextCommit, recorded } from './a-stream';
import type { Cases, Subject } from './case';

export const writingExamples: Cases = {
  'an append is recorded as one commit at the next versions, and visible to the next read': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [a, b, c] = subject.few;

    const [one, two] = [nextCommit(), nextCommit()];

    const first = await stream.append(BEGINNING, one, [a]);
    assert.deepEqual(first, { status: 'appended', head: { version: 1, commit: one } });
    assert.deepEqual(await stream.history(), recorded(BEGINNING, one, [a]));

    const second = await stream.append({ version: 1, commit: one }, two, [b, c]);
    assert.deepEqual(second, { status: 'appended', head: { version: 3, commit: two } });
    assert.deepEqual(await stream.history(), [
      { version: 1, commit: one, ...a },
      { version: 2, commit: two, ...b },
      { version: 3, commit: two, ...c },
    ]);
  },

  'an append records copies of `type` and `data`, and nothing else of its events': async (subject) => {
    const stream = subject.aStream();
    const [a] = subject.few;
    const event = { ...a, version: 7, other: 'member' };

    const head = await stream.add(BEGINNING, event);
    event.data = 'changed later';

    assert.deepEqual(await stream.history(), recorded(BEGINNING, head.commit, [a]));
  },

  'an append of 1,024 events is recorded as one commit': async (subject) => {
    const stream = subject.aStream();
    const events = subject.events(1024);

    const head = await stream.add(BEGINNING, ...events);

    assertHistory(await stream.history(), recorded(BEGINNING, head.commit, events));
  },

  'an append without an event, or without a commit id, is a RangeError and writes nothing': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [a, b] = subject.few;

    const head = await stream.add(BEGINNING, a);

    await assert.rejects(stream.append(head, nextCommit(), []), RangeError);
    await assert.rejects(stream.append(head, '', [b]), RangeError);
    assert.deepEqual(await stream.history(head), []);
  },

  'a conflict returns all newer events, and writes nothing': async (subject) => {
    const stream = subject.aStream();
    const [a, b, c, d] = subject.few;

    const head = await stream.add(BEGINNING, a);
    await stream.add(head, b, c);
    const newer = await stream.history(head);

    const result = await stream.append(head, nextCommit(), [d]);

    assertStatus(result, 'conflict');
    assert(result.events.length > 0, 'a conflict must have newer events');
    assert.deepEqual(await stream.rest(result), newer);
    assert.deepEqual(await stream.history(head), newer);
  },

  'a conflict occurs even if the expected head is within a commit': async (subject) => {
    const stream = subject.aStream();
    const [a, b, c, d] = subject.few;

    const { commit } = await stream.add(BEGINNING, a, b, c);

    const result = await stream.append({ version: 1, commit }, nextCommit(), [d]);

    assertStatus(result, 'conflict');
    assert.deepEqual(await stream.rest(result), recorded({ version: 1, commit }, commit, [b, c]));
  },

  'a conflict remains a conflict when the append is repeated': async (subject) => {
    const stream = subject.aStream();
    const [a, b] = subject.few;

    await stream.add(BEGINNING, a);
    const commit = nextCommit();

    const first = await stream.append(BEGINNING, commit, [b]);
    const second = await stream.append(BEGINNING, commit, [b]);

    assertStatus(first, 'conflict');
    assert.deepEqual(second, first);
    assert.equal((await stream.history()).length, 1);
  },

  'a conflict larger than a page returns the first page, and reading after it yields the rest': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [, b] = subject.few;

    await stream.grow(BEGINNING, subject.events(2 * subject.pageSize + 1));

    const result = await stream.append(BEGINNING, nextCommit(), [b]);

    assertStatus(result, 'conflict');
    assertPage(result, subject.pageSize);
    assert.deepEqual(await stream.rest(result), await stream.history());
  },

  'a repeated append has the same result, and is recorded once': async (subject) => {
    const stream = subject.aStream();
    const [a] = subject.few;

    const commit = nextCommit();
    const first = await stream.append(BEGINNING, commit, [a]);

    assert.deepEqual(await stream.append(BEGINNING, commit, [a]), first);
    assert.deepEqual(await stream.history(), recorded(BEGINNING, commit, [a]));
  },

  'a repeated append has the same result even if later events followed it': async (subject) => {
    const stream = subject.aStream();
    const [a, b, c, d] = subject.few;

    const before = await stream.add(BEGINNING, a);
    const commit = nextCommit();
    const first = await stream.append(before, commit, [b]);
    const history = [...(await stream.history())];
    await stream.add({ version: 2, commit }, c, d);

    assert.deepEqual(await stream.append(before, commit, [b]), first);
    assert.deepEqual((await stream.history()).slice(0, 2), history);
    assert.equal((await stream.history()).length, 4);
  },

  'a repeated append has the same result even if it has more events than a page': async (subject) => {
    const stream = subject.aStream();
    const [, b] = subject.few;

    const commit = nextCommit();
    const events = subject.events(subject.pageSize + 1);
    const first = await stream.append(BEGINNING, commit, events);
    await stream.add({ version: events.length, commit }, b);

    assert.deepEqual(await stream.append(BEGINNING, commit, events), first);
    assert.equal((await stream.history()).length, events.length + 1);
  },

  'an unknown head results in a reset of a read': async (subject) => {
    const { stream, heads } = await unknownHeads(subject);
    for (const [what, head] of heads) {
      assert.deepEqual([what, await stream.read(head)], [what, { status: 'reset' }]);
    }
  },

  'an unknown head results in a reset of an append, which writes nothing': async (subject) => {
    const { stream, end, heads, d } = await unknownHeads(subject);
    const history = await stream.history();
    for (const [what, head] of heads) {
      const result = await stream.append(head, nextCommit(), [d]);
      assert.deepEqual([what, result], [what, { status: 'reset' }]);
    }
    assert.deepEqual(await stream.history(), history);
    assert.equal((await stream.add(end, d)).version, 4);
  },

  'an unknown head results in a reset even for a commit that was recorded elsewhere in the stream': async (
    subject,
  ) => {
    const { stream, first, end, b, c } = await unknownHeads(subject);
    const strange = { version: 1, commit: nextCommit() };
    assert.deepEqual(await stream.append(strange, end.commit, [b, c]), { status: 'reset' });
    assert.equal((await stream.history(first)).length, 2);
  },

  'an unknown head results in a reset of an unknown stream': async (subject) => {
    const stream = subject.aStream();
    const [a] = subject.few;

    const strange = { version: 1, commit: nextCommit() };
    assert.deepEqual(await stream.read(strange), { status: 'reset' });
    assert.deepEqual(await stream.append(strange, nextCommit(), [a]), { status: 'reset' });
    assert.deepEqual(await stream.history(), []);
  },
};

/** A stream of three events, by two commits; and heads that it never had. */
async function unknownHeads(subject: Subject) {
  const stream = subject.aStream();
  const [a, b, c, d] = subject.few;

  const first = await stream.add(BEGINNING, a);
  const end = await stream.add(first, b, c);
  const heads: Record<string, Head> = {
    'one event beyond the end': { version: 4, commit: end.commit },
    'far beyond the end': { version: 1_000_000, commit: nextCommit() },
    'at the end, by another commit': { version: 3, commit: nextCommit() },
    'in the middle, by another commit': { version: 1, commit: nextCommit() },
    'an older version by a newer commit': { version: 1, commit: end.commit },
    'a newer version by an older commit': { version: 2, commit: first.commit },
    'some version by no commit': { version: 1, commit: '' },
    'the beginning by some commit': { version: 0, commit: first.commit },
  };
  return { stream, first, end, heads: Object.entries(heads), b, c, d };
}
