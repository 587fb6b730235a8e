/** First suite of the contract, for shared stores: two stores open on one place, as in two instances of a service. */
import assert from 'node:assert/strict';
import { BEGINNING } from '../event-sourcing';
import { Stream, assertHistory, assertStatus, nextCommit, recorded } from './a-stream';
import type { Cases, Subject } from './case';
import { compareWithMemory } from './differential';
import { race, watchAppends } from './racing';

export const sharingExamples: Cases = {
  'two stores on one place: each sees an append of the other at once, and appends after it': async (
    subject,
  ) => {
    let [writer, reader] = await throughTwoStores(subject);
    let head = BEGINNING;
    for (const event of subject.events(10)) {
      const before = head;
      head = await writer.add(before, event);
      const seen = await reader.history(before);
      assert(
        seen.length > 0,
        `the other store does not see the append at version ${head.version} after it was acknowledged`,
      );
      assertHistory(seen, recorded(before, head.commit, [event]));
      [writer, reader] = [reader, writer];
    }
    assertHistory(await writer.history(), await reader.history());
  },

  'two stores on one place: an append conflicts with one of the other that it has not read': async (
    subject,
  ) => {
    const [one, other] = await throughTwoStores(subject);
    const [a, b, c] = subject.few;
    const first = await one.add(BEGINNING, a);
    assert.equal((await other.history()).length, 1);
    const second = await one.add(first, b);

    const result = await other.append(first, nextCommit(), [c]);

    assertStatus(result, 'conflict');
    assert.deepEqual(result.events, recorded(first, second.commit, [b]));
    assert.equal((await one.history()).length, 2);
  },

  'two stores on one place: an append that is repeated by the other has the same result, and is recorded once':
    async (subject) => {
      const [one, other] = await throughTwoStores(subject);
      const [a, b, c] = subject.few;
      const head = await one.add(BEGINNING, a);
      assert.equal((await other.history()).length, 1);
      const commit = nextCommit();

      const first = await one.append(head, commit, [b, c]);

      assert.deepEqual(await other.append(head, commit, [b, c]), first);
      for (const each of [one, other])
        assertHistory(await each.history(head), recorded(head, commit, [b, c]));
    },

  'two stores on one place: writers of both lose nothing, write nothing twice, and leave no gap': async (
    subject,
  ) => {
    const [one, other] = await throughTwoStores(subject);
    await race(subject, [one, other, one, other]);
    assertHistory(await one.history(), await other.history());
  },

  'two stores on one place: an append is never partly visible to the other': async (subject) => {
    const [one, other] = await throughTwoStores(subject);
    await watchAppends(subject, one, [other]);
  },
};

export const sharedDifferentialCases: Cases = {
  'for any calls to two stores on one place, every result equals that of one memory store': async (
    subject,
  ) => {
    await compareWithMemory(subject, [subject.store, await subject.place.open()]);
  },
};

/** A new stream, through each of two stores on one place. */
async function throughTwoStores(subject: Subject): Promise<[one: Stream, other: Stream]> {
  const one = subject.aStream();
  return [one, new Stream(await subject.place.open(), one.name)];
}
