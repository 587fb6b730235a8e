/** First suite of the contract, concluded: what holds while several are at work at once. */
import { expect } from 'chai';
import { BEGINNING } from '../../src/application';
import type { PlantCreated } from '../../src/domain';
import { created } from '../support/given';
import { Stream, fern, gone, headOf, mintCommit, moss, recorded } from './a-stream';
import type { Subject } from './event-store';

export function racingExamples(subject: Subject): void {
  const aStream = () => new Stream(subject.store);

  describe('at the same time', () => {
    it('an append is never seen in part', async () => {
      const stream = aStream();
      let writing = true;

      const write = async () => {
        for (let head = BEGINNING; head.version < 150;) head = await stream.add(head, fern, moss, gone);
      };
      const watch = async () => {
        for (let head = BEGINNING; writing;) {
          const newer = await stream.history(head);
          expect(newer.length % 3).to.equal(0);
          const last = newer.at(-1);
          if (last) head = headOf(last);
        }
      };
      await Promise.all([write().finally(() => (writing = false)), watch(), watch()]);
    });

    it('an append that is repeated while it is under way is recorded once, and answered alike', async () => {
      const stream = aStream();
      const head = await stream.add(BEGINNING, gone);
      const commit = mintCommit();

      const answers = await Promise.all([1, 2, 3].map(() => stream.append(head, commit, [fern, moss])));

      for (const answer of answers) {
        expect(answer).to.deep.equal({ status: 'appended', head: { version: 3, commit } });
      }
      expect(await stream.history(head)).to.deep.equal(recorded(head, commit, [fern, moss]));
    });

    it('writers who race lose nothing, write nothing twice, leave no gap, and keep their own order', async () => {
      const stream = aStream();
      const WRITERS = 4;
      const APPENDS = 100;

      await Promise.all(
        countTo(WRITERS).map(async (writer) => {
          let head = BEGINNING;
          for (let turn = 1; turn <= APPENDS;) {
            const result = await stream.append(head, mintCommit(), [created(turn, `by ${writer}`)]);
            if (result.status === 'reset') return expect.fail('a history was lost');
            if (result.status === 'appended') {
              head = result.head;
              turn++;
            } else {
              expect(result.events[0]?.version).to.equal(head.version + 1);
              head = headOf(result.events.at(-1)!);
            }
          }
        }),
      );

      const history = await stream.history();
      expect(history.map(({ version }) => version)).to.deep.equal(countTo(WRITERS * APPENDS));
      for (let writer = 1; writer <= WRITERS; writer++) {
        const own = history
          .map(({ event }) => event as PlantCreated)
          .filter(({ name }) => name === `by ${writer}`);
        expect(own.map(({ id }) => Number(id))).to.deep.equal(countTo(APPENDS));
      }
    });
  });
}

function countTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
