/** First suite of the contract, for durable stores: what holds when the place is opened again, as after a restart. */
import assert from 'node:assert/strict';
import { BEGINNING } from '../application';
import { Stream, assertStatus, fern, gone, mintCommit, moss } from './a-stream';
import type { Cases } from './case';

export const reopeningExamples: Cases = {
  'a store that is opened again has the history, and goes on behind it': async (subject) => {
    const before = subject.aStream();
    const head = await before.add(await before.add(BEGINNING, fern, gone), moss);
    const history = await before.history();

    const after = new Stream(await subject.reopen(), before.name);

    assert.deepEqual(await after.history(), history);
    assert.equal((await after.add(head, fern)).version, 4);
  },

  'a store that is opened again knows the appends that landed before': async (subject) => {
    const before = subject.aStream();
    const head = await before.add(BEGINNING, gone);
    const commit = mintCommit();
    const first = await before.append(head, commit, [fern, moss]);

    const after = new Stream(await subject.reopen(), before.name);

    assert.deepEqual(await after.append(head, commit, [fern, moss]), first);
    assertStatus(await after.append(head, mintCommit(), [gone]), 'conflict');
    assert.equal((await after.history()).length, 3);
  },
};
