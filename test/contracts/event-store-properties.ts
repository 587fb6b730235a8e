/** Second suite of the contract: the same promises, for whatever is appended. */
import { expect } from 'chai';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { BEGINNING, type Head, type RecordedEvent } from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import { anyEvent } from '../domain/arbitraries';
import { Stream, headOf, mintCommit, recorded } from './a-stream';
import type { Subject } from './event-store';

const RUNS = { numRuns: process.env['LONG'] === '1' ? 500 : 20 };

const anyCommits = fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 6,
});

export function propertyCases(subject: Subject): void {
  describe('for any events', () => {
    it('what was appended is the history, read from any place in it', async () => {
      await fc.assert(
        fc.asyncProperty(anyCommits, fc.nat(), async (commits, anywhere) => {
          const { stream, history } = await written(subject, commits);
          const from = place(history, anywhere);
          expect(await stream.history()).to.deep.equal(history);
          expect(await stream.history(from)).to.deep.equal(history.slice(from.version));
        }),
        RUNS,
      );
    });

    it('an append behind any but the last conflicts with exactly what is newer', async () => {
      await fc.assert(
        fc.asyncProperty(anyCommits, fc.nat(), anyEvent, async (commits, anywhere, late) => {
          const { stream, history } = await written(subject, commits);
          const old = place(history.slice(0, -1), anywhere);

          const result = await stream.append(old, mintCommit(), [late]);

          if (result.status !== 'conflict') return expect.fail(result.status);
          expect(await stream.rest(result)).to.deep.equal(history.slice(old.version));
          expect(await stream.history()).to.deep.equal(history);
        }),
        RUNS,
      );
    });

    it('every append can be repeated at any later time, and changes nothing then', async () => {
      await fc.assert(
        fc.asyncProperty(anyCommits, fc.nat(), async (commits, anywhere) => {
          const { stream, history, appends } = await written(subject, commits);
          const { expected, head, events } = appends[anywhere % appends.length]!;

          expect(await stream.append(expected, head.commit, events)).to.deep.equal({
            status: 'appended',
            head,
          });
          expect(await stream.history()).to.deep.equal(history);
        }),
        RUNS,
      );
    });

    it('a head that the stream never had is a reset and changes nothing', async () => {
      const anyVersion = fc.oneof(fc.constant(0), fc.nat({ max: 10 }), fc.nat());
      await fc.assert(
        fc.asyncProperty(anyCommits, anyVersion, fc.nat(), async (commits, version, anywhere) => {
          const { stream, history, appends } = await written(subject, commits);
          const commit = appends[anywhere % appends.length]!.head.commit;
          fc.pre(history[version - 1]?.commit !== commit);

          const strange = { version, commit };
          expect(await stream.read(strange)).to.deep.equal({ status: 'reset' });
          expect(await stream.append(strange, mintCommit(), [history[0]!.event])).to.deep.equal({
            status: 'reset',
          });
          expect(await stream.history()).to.deep.equal(history);
        }),
        RUNS,
      );
    });

    it('two streams of any two names are apart', async () => {
      const anyName = fc.string({ unit: 'binary', maxLength: 100 });
      const twoNames = fc.tuple(anyName, anyName).filter(([one, other]) => one !== other);
      await fc.assert(
        fc.asyncProperty(twoNames, anyEvent, async (names, event) => {
          const unique = randomUUID();
          const one = new Stream(subject.store, `${names[0]}${unique}`);
          const other = new Stream(subject.store, `${names[1]}${unique}`);

          const { commit } = await one.add(BEGINNING, event);

          expect(await other.history()).to.deep.equal([]);
          expect(await one.history()).to.deep.equal(recorded(BEGINNING, commit, [event]));
        }),
        RUNS,
      );
    });
  });
}

interface Append {
  readonly expected: Head;
  readonly head: Head;
  readonly events: readonly PlantEvent[];
}

/** A new stream that `commits` were appended to one after the other. */
async function written(subject: Subject, commits: readonly (readonly PlantEvent[])[]) {
  const stream = new Stream(subject.store);
  const appends: Append[] = [];
  const history: RecordedEvent[] = [];
  for (const events of commits) {
    const expected = appends.at(-1)?.head ?? BEGINNING;
    const head = await stream.add(expected, ...events);
    appends.push({ expected, head, events });
    history.push(...recorded(expected, head.commit, events));
  }
  return { stream, history, appends };
}

/** Some place in a history, the beginning and the end among them. */
function place(history: readonly RecordedEvent[], anywhere: number): Head {
  const at = history[(anywhere % (history.length + 1)) - 1];
  return at ? headOf(at) : BEGINNING;
}
