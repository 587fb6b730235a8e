/** First suite of the contract: one example for each promise about what is written, and when. */
import assert from 'node:assert/strict';
import { BEGINNING, type Head } from '../application';
import { created, ferns } from './events';
import { assertPage, assertStatus, fern, gone, mintCommit, moss, recorded } from './a-stream';
import type { Cases, Subject } from './case';

export const writingExamples: Cases = {
  'an append is recorded as one commit at the next versions, and seen by the read that follows': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [one, two] = [mintCommit(), mintCommit()];

    const first = await stream.append(BEGINNING, one, [fern]);
    assert.deepEqual(first, { status: 'appended', head: { version: 1, commit: one } });
    assert.deepEqual(await stream.history(), recorded(BEGINNING, one, [fern]));

    const second = await stream.append({ version: 1, commit: one }, two, [moss, gone]);
    assert.deepEqual(second, { status: 'appended', head: { version: 3, commit: two } });
    assert.deepEqual(await stream.history(), [
      { version: 1, commit: one, event: fern },
      { version: 2, commit: two, event: moss },
      { version: 3, commit: two, event: gone },
    ]);
  },

  'an append without an event, or without a commit id, is a RangeError and writes nothing': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const head = await stream.add(BEGINNING, fern);

    await assert.rejects(stream.append(head, mintCommit(), []), RangeError);
    await assert.rejects(stream.append(head, '', [moss]), RangeError);
    assert.deepEqual(await stream.history(head), []);
  },

  'a conflict hands over all that is newer, and writes nothing': async (subject) => {
    const stream = subject.aStream();
    const head = await stream.add(BEGINNING, fern);
    await stream.add(head, moss, gone);
    const newer = await stream.history(head);

    const result = await stream.append(head, mintCommit(), [created(9, 'Late')]);

    assertStatus(result, 'conflict');
    assert(result.events.length > 0, 'a conflict must bring something newer');
    assert.deepEqual(await stream.rest(result), newer);
    assert.deepEqual(await stream.history(head), newer);
  },

  'a conflict is one too where the known head lies inside of a commit': async (subject) => {
    const stream = subject.aStream();
    const { commit } = await stream.add(BEGINNING, fern, moss, gone);

    const result = await stream.append({ version: 1, commit }, mintCommit(), [created(9, 'Late')]);

    assertStatus(result, 'conflict');
    assert.deepEqual(await stream.rest(result), recorded({ version: 1, commit }, commit, [moss, gone]));
  },

  'a conflict stays one when the append is repeated': async (subject) => {
    const stream = subject.aStream();
    await stream.add(BEGINNING, fern);
    const late = mintCommit();

    const first = await stream.append(BEGINNING, late, [moss]);
    const second = await stream.append(BEGINNING, late, [moss]);

    assertStatus(first, 'conflict');
    assert.deepEqual(second, first);
    assert.equal((await stream.history()).length, 1);
  },

  'a conflict bigger than a page hands over the beginning, and reading on yields the rest': async (
    subject,
  ) => {
    const stream = subject.aStream();
    await stream.grow(BEGINNING, 2 * subject.pageSize + 1);

    const result = await stream.append(BEGINNING, mintCommit(), [moss]);

    assertStatus(result, 'conflict');
    assertPage(result, subject.pageSize);
    assert.deepEqual(await stream.rest(result), await stream.history());
  },

  'an append that is repeated is answered as the first time, and recorded once': async (subject) => {
    const stream = subject.aStream();
    const commit = mintCommit();
    const first = await stream.append(BEGINNING, commit, [fern]);

    assert.deepEqual(await stream.append(BEGINNING, commit, [fern]), first);
    assert.deepEqual(await stream.history(), recorded(BEGINNING, commit, [fern]));
  },

  'an append that is repeated is so also when later events have followed it': async (subject) => {
    const stream = subject.aStream();
    const before = await stream.add(BEGINNING, fern);
    const commit = mintCommit();
    const first = await stream.append(before, commit, [moss]);
    const history = [...(await stream.history())];
    await stream.add({ version: 2, commit }, gone, created(3, 'Aloe'));

    assert.deepEqual(await stream.append(before, commit, [moss]), first);
    assert.deepEqual((await stream.history()).slice(0, 2), history);
    assert.equal((await stream.history()).length, 4);
  },

  'an append that is repeated is so also when it has more events than a page': async (subject) => {
    const stream = subject.aStream();
    const commit = mintCommit();
    const events = ferns(subject.pageSize + 1);
    const first = await stream.append(BEGINNING, commit, events);
    await stream.add({ version: events.length, commit }, moss);

    assert.deepEqual(await stream.append(BEGINNING, commit, events), first);
    assert.equal((await stream.history()).length, events.length + 1);
  },

  'a history that only the caller knows is a reset when read on from': async (subject) => {
    const { stream, heads } = await strangeHeads(subject);
    for (const [what, head] of heads) {
      assert.deepEqual([what, await stream.read(head)], [what, { status: 'reset' }]);
    }
  },

  'a history that only the caller knows is a reset when appended to, and nothing is written': async (
    subject,
  ) => {
    const { stream, end, heads } = await strangeHeads(subject);
    const history = await stream.history();
    for (const [what, head] of heads) {
      const result = await stream.append(head, mintCommit(), [created(9, 'Astray')]);
      assert.deepEqual([what, result], [what, { status: 'reset' }]);
    }
    assert.deepEqual(await stream.history(), history);
    assert.equal((await stream.add(end, created(9, 'Aloe'))).version, 4);
  },

  'a history that only the caller knows is a reset also for a commit that landed elsewhere in the stream':
    async (subject) => {
      const { stream, first, end } = await strangeHeads(subject);
      const strange = { version: 1, commit: mintCommit() };
      assert.deepEqual(await stream.append(strange, end.commit, [moss, gone]), { status: 'reset' });
      assert.equal((await stream.history(first)).length, 2);
    },

  'a history that only the caller knows is a reset where nothing was ever written': async (subject) => {
    const stream = subject.aStream();
    const strange = { version: 1, commit: mintCommit() };
    assert.deepEqual(await stream.read(strange), { status: 'reset' });
    assert.deepEqual(await stream.append(strange, mintCommit(), [fern]), { status: 'reset' });
    assert.deepEqual(await stream.history(), []);
  },
};

/** A stream of three events, by two commits; and heads that it never had. */
async function strangeHeads(subject: Subject) {
  const stream = subject.aStream();
  const first = await stream.add(BEGINNING, fern);
  const end = await stream.add(first, moss, gone);
  const heads: Record<string, Head> = {
    'one event beyond the end': { version: 4, commit: end.commit },
    'far beyond the end': { version: 1_000_000, commit: mintCommit() },
    'at the end, by another commit': { version: 3, commit: mintCommit() },
    'in the middle, by another commit': { version: 1, commit: mintCommit() },
    'an older version by a newer commit': { version: 1, commit: end.commit },
    'a newer version by an older commit': { version: 2, commit: first.commit },
    'some version by no commit': { version: 1, commit: '' },
    'the beginning by some commit': { version: 0, commit: first.commit },
  };
  return { stream, first, end, heads: Object.entries(heads) };
}
