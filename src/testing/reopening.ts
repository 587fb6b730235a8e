/** First suite of the contract, for durable stores: guarantees after closing and reopening. */
import assert from 'node:assert/strict';
import { BEGINNING } from '../event-sourcing';
import { Stream, assertStatus, mintCommit } from './a-stream';
import type { Cases } from './case';

export const reopeningExamples: Cases = {
  'a reopened store has the history, and appends after it': async (subject) => {
    const before = subject.aStream();
    const [a, b, c] = subject.few;
    const head = await before.add(await before.add(BEGINNING, a, c), b);
    const history = await before.history();

    const after = new Stream(await subject.reopen(), before.name);

    assert.deepEqual(await after.history(), history);
    assert.equal((await after.add(head, a)).version, 4);
  },

  'a reopened store recognizes earlier appends': async (subject) => {
    const before = subject.aStream();
    const [a, b, c] = subject.few;
    const head = await before.add(BEGINNING, c);
    const commit = mintCommit();
    const first = await before.append(head, commit, [a, b]);

    const after = new Stream(await subject.reopen(), before.name);

    assert.deepEqual(await after.append(head, commit, [a, b]), first);
    assertStatus(await after.append(head, mintCommit(), [c]), 'conflict');
    assert.equal((await after.history()).length, 3);
  },
};
