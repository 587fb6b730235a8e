/** First suite of the contract, part 3: concurrent calls. */
import assert from 'node:assert/strict';
import { setImmediate as otherWork } from 'node:timers/promises';
import { BEGINNING, headOf } from '../event-sourcing';
import { mintCommit, recorded } from './a-stream';
import type { Cases } from './case';

export const racingExamples: Cases = {
  'concurrently, an append is never partly visible': async (subject) => {
    const stream = subject.aStream();
    const [a, b, c] = subject.few;
    let writing = true;

    const write = async () => {
      for (let head = BEGINNING; head.version < 150;) head = await stream.add(head, a, b, c);
    };
    const watch = async () => {
      for (let head = BEGINNING; writing;) {
        const newer = await stream.history(head);
        assert.equal(newer.length % 3, 0, 'every append is of three events');
        const last = newer.at(-1);
        if (last) head = headOf(last);
        // Otherwise the reads of a store in memory would starve its writes.
        await otherWork();
      }
    };
    await Promise.all([write().finally(() => (writing = false)), watch(), watch()]);
  },

  'concurrently, an append that is repeated while it is in flight is recorded once, with the same result':
    async (subject) => {
      const stream = subject.aStream();
      const [a, b, c] = subject.few;
      const head = await stream.add(BEGINNING, c);
      const commit = mintCommit();

      const answers = await Promise.all([1, 2, 3].map(() => stream.append(head, commit, [a, b])));

      for (const answer of answers) {
        assert.deepEqual(answer, { status: 'appended', head: { version: 3, commit } });
      }
      assert.deepEqual(await stream.history(head), recorded(head, commit, [a, b]));
    },

  'concurrently, several writers lose nothing, write nothing twice, leave no gap, and keep their own order':
    async (subject) => {
      const stream = subject.aStream();
      const WRITERS = 4;
      const APPENDS = 100;
      const event = subject.events(APPENDS);

      /** The commits that each writer appended, in order. */
      const appended = await Promise.all(
        countTo(WRITERS).map(async () => {
          const commits: string[] = [];
          for (let head = BEGINNING; commits.length < APPENDS;) {
            const commit = mintCommit();
            const result = await stream.append(head, commit, [event[commits.length]!]);
            assert(result.status !== 'reset', 'a history was lost');
            // Checked first; otherwise the loop would not end.
            assert(head.version < WRITERS * APPENDS, 'more was recorded than was appended');
            if (result.status === 'appended') {
              head = result.head;
              commits.push(commit);
            } else {
              assert.equal(result.events[0]?.version, head.version + 1);
              head = headOf(result.events.at(-1)!);
            }
          }
          return commits;
        }),
      );

      const history = await stream.history();
      assert.deepEqual(
        history.map(({ version }) => version),
        countTo(WRITERS * APPENDS),
      );
      for (const commits of appended) {
        const own = history.filter(({ commit }) => commits.includes(commit));
        assert.deepEqual(
          own.map((recorded) => [recorded.commit, recorded.event]),
          commits.map((commit, index) => [commit, event[index]]),
        );
      }
    },
};

function countTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
