/** Suite of the contract for stores that archive: streams whose first events are replaced by a base snapshot. */
import assert from 'node:assert/strict';
import { BEGINNING, type Head } from '../event-sourcing';
import { baseAt, threeCommits, trimmed } from './a-snapshot';
import { type Stream, assertHistory, assertStatus, nextCommit, recorded } from './a-stream';
import type { Cases, Subject } from './case';

export const archivingExamples: Cases = {
  'an archived stream: reads and appends before the head of its base result in `archived`': async (
    subject,
  ) => {
    const { stream, first, base, last, events } = await archived(subject);
    for (const head of [BEGINNING, first]) {
      assert.deepEqual(await stream.read(head), { status: 'archived' });
      assert.deepEqual(await stream.append(head, nextCommit(), [events[0]]), { status: 'archived' });
    }
    assertHistory(await stream.history(base), recorded(base, last.commit, [events[3]]));
  },

  'an archived stream: reads and appends from the head of its base on have the same results as before':
    async (subject) => {
      const { stream, base, last, events } = await archived(subject);
      assertStatus(await stream.append(base, nextCommit(), [events[0]]), 'conflict');
      assert.deepEqual(await stream.append(base, last.commit, [events[3]]), {
        status: 'appended',
        head: last,
      });
      assertStatus(await stream.read({ ...base, commit: 'another' }), 'reset');
      const next = await stream.add(last, events[0]);
      assertHistory(await stream.history(last), recorded(last, next.commit, [events[0]]));
    },

  'an archived stream: without the event of its base it is unreadable, and neither empty nor written to':
    async (subject) => {
      const { stream, first, base, last, events } = await archived(subject);
      await subject.place.loseEvents(stream.name);
      // Twice: the first attempts must not have begun another history.
      for (let attempt = 0; attempt < 2; attempt++) {
        await assertUnreadable(stream.read(BEGINNING));
        await assertUnreadable(stream.append(BEGINNING, nextCommit(), [events[0]]));
        for (const head of [first, base, last]) {
          assertStatus(await stream.read(head), 'reset');
          assertStatus(await stream.append(head, nextCommit(), [events[0]]), 'reset');
        }
      }
      const { archive } = subject.place;
      assert.equal(await archive.trim(stream.name, base), undefined, 'there is nothing to remove');
      const saved = await archive.saveBase(stream.name, baseAt(last, 'a', 'b'), base.version, async () => {});
      assert.equal(saved, false, 'a base must not replace that of a stream without its head');
      await assertUnreadable(stream.read(BEGINNING));
    },
};

/** A stream of four events in three commits, whose first three were archived. */
async function archived(subject: Subject): Promise<{
  stream: Stream;
  first: Head;
  base: Head;
  last: Head;
  events: Subject['few'];
}> {
  const { stream, heads, events } = await threeCommits(subject);
  const { 1: first, 3: base, 4: last } = heads;
  const { archive } = subject.place;
  assert.equal(await archive.saveBase(stream.name, baseAt(base, 'a', 'b'), 0, async () => {}), true);
  await trimmed(subject, stream, base);
  return { stream, first, base, last, events };
}

async function assertUnreadable(call: Promise<{ readonly status: string }>): Promise<void> {
  const name = await call.then(
    ({ status }) => status,
    (error: unknown) => (error instanceof Error ? error.name : error),
  );
  assert.equal(name, 'UnreadableHistory', `the result is ${String(name)}, and must be an UnreadableHistory`);
}
