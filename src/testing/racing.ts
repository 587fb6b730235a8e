/** First suite of the contract, concluded: what holds while several are at work at once. */
import assert from 'node:assert/strict';
import { setImmediate as otherWork } from 'node:timers/promises';
import { BEGINNING, headOf } from '../application';
import type { PlantCreated } from '../domain';
import { created } from './events';
import { fern, gone, mintCommit, moss, recorded } from './a-stream';
import type { Cases } from './case';

export const racingExamples: Cases = {
  'at the same time, an append is never seen in part': async (subject) => {
    const stream = subject.aStream();
    let writing = true;

    const write = async () => {
      for (let head = BEGINNING; head.version < 150;) head = await stream.add(head, fern, moss, gone);
    };
    const watch = async () => {
      for (let head = BEGINNING; writing;) {
        const newer = await stream.history(head);
        assert.equal(newer.length % 3, 0, 'every append is of three events');
        const last = newer.at(-1);
        if (last) head = headOf(last);
        // A store that reads from memory would otherwise keep its own writes from ever landing.
        await otherWork();
      }
    };
    await Promise.all([write().finally(() => (writing = false)), watch(), watch()]);
  },

  'at the same time, an append that is repeated while it is under way is recorded once, and answered alike':
    async (subject) => {
      const stream = subject.aStream();
      const head = await stream.add(BEGINNING, gone);
      const commit = mintCommit();

      const answers = await Promise.all([1, 2, 3].map(() => stream.append(head, commit, [fern, moss])));

      for (const answer of answers) {
        assert.deepEqual(answer, { status: 'appended', head: { version: 3, commit } });
      }
      assert.deepEqual(await stream.history(head), recorded(head, commit, [fern, moss]));
    },

  'at the same time, writers who race lose nothing, write nothing twice, leave no gap, and keep their own order':
    async (subject) => {
      const stream = subject.aStream();
      const WRITERS = 4;
      const APPENDS = 100;

      await Promise.all(
        countTo(WRITERS).map(async (writer) => {
          let head = BEGINNING;
          for (let turn = 1; turn <= APPENDS;) {
            const result = await stream.append(head, mintCommit(), [created(turn, `by ${writer}`)]);
            assert(result.status !== 'reset', 'a history was lost');
            // Before anything else, for it would never come to an end.
            assert(head.version < WRITERS * APPENDS, 'more was recorded than anybody appended');
            if (result.status === 'appended') {
              head = result.head;
              turn++;
            } else {
              assert.equal(result.events[0]?.version, head.version + 1);
              head = headOf(result.events.at(-1)!);
            }
          }
        }),
      );

      const history = await stream.history();
      assert.deepEqual(
        history.map(({ version }) => version),
        countTo(WRITERS * APPENDS),
      );
      for (let writer = 1; writer <= WRITERS; writer++) {
        const own = history
          .map(({ event }) => event as PlantCreated)
          .filter(({ name }) => name === `by ${writer}`);
        assert.deepEqual(
          own.map(({ id }) => Number(id)),
          countTo(APPENDS),
        );
      }
    },
};

function countTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
