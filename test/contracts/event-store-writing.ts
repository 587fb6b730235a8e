/** First suite of the contract: one example for each promise about what is written, and when. */
import { expect } from 'chai';
import { BEGINNING, type Head } from '../../src/application';
import { created, ferns } from '../support/given';
import { Stream, fern, gone, mintCommit, moss, recorded } from './a-stream';
import type { Subject } from './event-store';

export function writingExamples(subject: Subject): void {
  const aStream = () => new Stream(subject.store);

  describe('an append', () => {
    it('is recorded as one commit at the next versions, and seen by the read that follows', async () => {
      const stream = aStream();
      const [one, two] = [mintCommit(), mintCommit()];

      const first = await stream.append(BEGINNING, one, [fern]);
      expect(first).to.deep.equal({ status: 'appended', head: { version: 1, commit: one } });
      expect(await stream.history()).to.deep.equal(recorded(BEGINNING, one, [fern]));

      const second = await stream.append({ version: 1, commit: one }, two, [moss, gone]);
      expect(second).to.deep.equal({ status: 'appended', head: { version: 3, commit: two } });
      expect(await stream.history()).to.deep.equal([
        { version: 1, commit: one, event: fern },
        { version: 2, commit: two, event: moss },
        { version: 3, commit: two, event: gone },
      ]);
    });

    it('without an event, or without a commit id, is a RangeError and writes nothing', async () => {
      const stream = aStream();
      const head = await stream.add(BEGINNING, fern);

      expect(await faultOf(stream.append(head, mintCommit(), []))).to.be.instanceOf(RangeError);
      expect(await faultOf(stream.append(head, '', [moss]))).to.be.instanceOf(RangeError);
      expect(await stream.history(head)).to.deep.equal([]);
    });
  });

  describe('a conflict', () => {
    it('hands over all that is newer, and writes nothing', async () => {
      const stream = aStream();
      const head = await stream.add(BEGINNING, fern);
      await stream.add(head, moss, gone);
      const newer = await stream.history(head);

      const result = await stream.append(head, mintCommit(), [created(9, 'Late')]);

      if (result.status !== 'conflict') return expect.fail(result.status);
      expect(result.events).to.not.be.empty;
      expect(await stream.rest(result)).to.deep.equal(newer);
      expect(await stream.history(head)).to.deep.equal(newer);
    });

    it('is one too where the known head lies inside of a commit', async () => {
      const stream = aStream();
      const { commit } = await stream.add(BEGINNING, fern, moss, gone);

      const result = await stream.append({ version: 1, commit }, mintCommit(), [created(9, 'Late')]);

      if (result.status !== 'conflict') return expect.fail(result.status);
      expect(await stream.rest(result)).to.deep.equal(recorded({ version: 1, commit }, commit, [moss, gone]));
    });

    it('stays one when the append is repeated', async () => {
      const stream = aStream();
      await stream.add(BEGINNING, fern);
      const late = mintCommit();

      const first = await stream.append(BEGINNING, late, [moss]);
      const second = await stream.append(BEGINNING, late, [moss]);

      expect(first.status).to.equal('conflict');
      expect(second).to.deep.equal(first);
      expect(await stream.history()).to.have.lengthOf(1);
    });

    it('bigger than a page hands over the beginning, and reading on yields the rest', async () => {
      const stream = aStream();
      await stream.grow(BEGINNING, 2 * subject.pageSize + 1);

      const result = await stream.append(BEGINNING, mintCommit(), [moss]);

      if (result.status !== 'conflict') return expect.fail(result.status);
      expect(result.more).to.be.true;
      expect(result.events.length).to.be.within(1, subject.pageSize);
      expect(await stream.rest(result)).to.deep.equal(await stream.history());
    });
  });

  describe('an append that is repeated', () => {
    it('is answered as the first time, and recorded once', async () => {
      const stream = aStream();
      const commit = mintCommit();
      const first = await stream.append(BEGINNING, commit, [fern]);

      expect(await stream.append(BEGINNING, commit, [fern])).to.deep.equal(first);
      expect(await stream.history()).to.deep.equal(recorded(BEGINNING, commit, [fern]));
    });

    it('is so also when later events have followed it', async () => {
      const stream = aStream();
      const before = await stream.add(BEGINNING, fern);
      const commit = mintCommit();
      const first = await stream.append(before, commit, [moss]);
      const history = [...(await stream.history())];
      await stream.add({ version: 2, commit }, gone, created(3, 'Aloe'));

      expect(await stream.append(before, commit, [moss])).to.deep.equal(first);
      expect((await stream.history()).slice(0, 2)).to.deep.equal(history);
      expect(await stream.history()).to.have.lengthOf(4);
    });

    it('is so also when it has more events than a page', async () => {
      const stream = aStream();
      const commit = mintCommit();
      const events = ferns(subject.pageSize + 1);
      const first = await stream.append(BEGINNING, commit, events);
      await stream.add({ version: events.length, commit }, moss);

      expect(await stream.append(BEGINNING, commit, events)).to.deep.equal(first);
      expect(await stream.history()).to.have.lengthOf(events.length + 1);
    });
  });

  describe('a history that the caller knows and the store does not', () => {
    /** A stream of three events, by two commits; and heads that it never had. */
    async function strangeHeads() {
      const stream = aStream();
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

    it('is a reset when read on from', async () => {
      const { stream, heads } = await strangeHeads();
      for (const [what, head] of heads) {
        expect(await stream.read(head), what).to.deep.equal({ status: 'reset' });
      }
    });

    it('is a reset when appended to, and nothing is written', async () => {
      const { stream, end, heads } = await strangeHeads();
      const history = await stream.history();
      for (const [what, head] of heads) {
        const result = await stream.append(head, mintCommit(), [created(9, 'Astray')]);
        expect(result, what).to.deep.equal({ status: 'reset' });
      }
      expect(await stream.history()).to.deep.equal(history);
      expect((await stream.add(end, created(9, 'Aloe'))).version).to.equal(4);
    });

    it('is a reset also for a commit that landed elsewhere in the stream', async () => {
      const { stream, first, end } = await strangeHeads();
      const strange = { version: 1, commit: mintCommit() };
      expect(await stream.append(strange, end.commit, [moss, gone])).to.deep.equal({ status: 'reset' });
      expect(await stream.history(first)).to.have.lengthOf(2);
    });

    it('is a reset where nothing was ever written', async () => {
      const stream = aStream();
      const strange = { version: 1, commit: mintCommit() };
      expect(await stream.read(strange)).to.deep.equal({ status: 'reset' });
      expect(await stream.append(strange, mintCommit(), [fern])).to.deep.equal({ status: 'reset' });
      expect(await stream.history()).to.deep.equal([]);
    });
  });
}

async function faultOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (fault: unknown) => fault,
  );
}
