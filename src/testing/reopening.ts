/** First suite of the contract, for durable stores: guarantees after closing and reopening. */
import assert from 'node:assert/strict';
import { BEGINNING, type Head, type StoredEvent } from '../event-sourcing';
import { NOTHING_NEWER, Stream, assertHistory, assertStatus, nextCommit, recorded } from './a-stream';
import { type Cases, ODD_EVENTS } from './case';
import { oddCommits } from './commit-ids';
import { oddNames } from './reading';

export const reopeningExamples: Cases = {
  'a reopened store has the history, and appends after it': async (subject) => {
    const before = subject.aStream();
    const [a, b, c] = subject.few;
    const head = await before.add(await before.add(BEGINNING, a, c), b);
    const history = await before.history();

    const after = new Stream(await subject.place.reopen(), before.name);

    assertHistory(await after.history(), history);
    assert.equal((await after.add(head, a)).version, 4);
  },

  'a reopened store recognizes earlier appends': async (subject) => {
    const before = subject.aStream();
    const [a, b, c] = subject.few;
    const head = await before.add(BEGINNING, c);
    const commit = nextCommit();
    const first = await before.append(head, commit, [a, b]);

    const after = new Stream(await subject.place.reopen(), before.name);

    assert.deepEqual(await after.append(head, commit, [a, b]), first);
    assertStatus(await after.append(head, nextCommit(), [c]), 'conflict');
    assert.equal((await after.history()).length, 3);
  },

  'a reopened store has any events and odd texts exactly as they were appended': async (subject) => {
    const before = subject.aStream();
    const history: StoredEvent[] = [];
    let head: Head = BEGINNING;
    // Several commits, so that none is too large for a store that reads them whole.
    const events = [...ODD_EVENTS, ...subject.events(Math.ceil(200 * subject.effort))];
    for (let start = 0; start < events.length; start += 7) {
      const commit = events.slice(start, start + 7);
      const next = await before.add(head, ...commit);
      history.push(...recorded(head, next.commit, commit));
      head = next;
    }

    const after = new Stream(await subject.place.reopen(), before.name);

    assertHistory(await after.history(), history);
  },

  'a reopened store has streams of any names and commits of any ids': async (subject) => {
    const [event] = subject.few;
    const before = oddNames().map((name) => new Stream(subject.store, name));
    const commits = oddCommits();
    const commitOf = (index: number) => commits[index % commits.length]!;
    for (const [index, stream] of before.entries()) await stream.append(BEGINNING, commitOf(index), [event]);

    const store = await subject.place.reopen();

    for (const [index, { name }] of before.entries()) {
      const stream = new Stream(store, name);
      const expected = recorded(BEGINNING, commitOf(index), [event]);
      assert.deepEqual([name, await stream.history()], [name, expected]);
      assert.deepEqual(await stream.read({ version: 1, commit: commitOf(index) }), NOTHING_NEWER);
    }
  },

  'a reopened store has nothing of an append that was refused because the store was closed': async (
    subject,
  ) => {
    const before = subject.aStream();
    const [a, b] = subject.few;
    const head = await before.add(BEGINNING, a);
    await subject.place.closeAll();
    await before.append(head, nextCommit(), [b]).catch(() => {});

    const after = new Stream(await subject.place.open(), before.name);

    assertHistory(await after.history(), recorded(BEGINNING, head.commit, [a]));
  },
};
