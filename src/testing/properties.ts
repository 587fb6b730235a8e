/** Second suite of the contract: the guarantees as properties, for any events. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { BEGINNING, type EncodedEvent, type Head, type StoredEvent, headOf } from '../event-sourcing';
import { Stream, assertStatus, nextCommit, recorded, streamName } from './a-stream';
import { type Cases, type Subject, anyEvent } from './case';

const anyCommits: fc.Arbitrary<EncodedEvent[][]> = fc.array(
  fc.array(anyEvent, { minLength: 1, maxLength: 5 }),
  { minLength: 1, maxLength: 6 },
);

export const propertyCases: Cases = {
  'for any events, the history has all appended events, read after any head': async (subject) => {
    await fc.assert(
      fc.asyncProperty(anyCommits, fc.nat(), async (commits, anywhere) => {
        const { stream, history } = await written(subject, commits);
        const from = place(history, anywhere);
        assert.deepEqual(await stream.history(), history);
        assert.deepEqual(await stream.history(from), history.slice(from.version));
      }),
      parameters(subject),
    );
  },

  'for any events, an append at any head but the last conflicts with exactly the newer events': async (
    subject,
  ) => {
    await fc.assert(
      fc.asyncProperty(anyCommits, fc.nat(), anyEvent, async (commits, anywhere, late) => {
        const { stream, history } = await written(subject, commits);
        const old = place(history.slice(0, -1), anywhere);

        const result = await stream.append(old, nextCommit(), [late]);

        assertStatus(result, 'conflict');
        assert.deepEqual(await stream.rest(result), history.slice(old.version));
        assert.deepEqual(await stream.history(), history);
      }),
      parameters(subject),
    );
  },

  'for any events, every append is idempotent at any later time': async (subject) => {
    await fc.assert(
      fc.asyncProperty(anyCommits, fc.nat(), async (commits, anywhere) => {
        const { stream, history, appends } = await written(subject, commits);
        const { expected, head, events } = appends[anywhere % appends.length]!;

        const again = await stream.append(expected, head.commit, events);
        assert.deepEqual(again, { status: 'appended', head });
        assert.deepEqual(await stream.history(), history);
      }),
      parameters(subject),
    );
  },

  'for any events, a head that the stream never had results in a reset and changes nothing': async (
    subject,
  ) => {
    const anyVersion = fc.oneof(fc.constant(0), fc.nat({ max: 10 }), fc.nat());
    await fc.assert(
      fc.asyncProperty(anyCommits, anyVersion, fc.nat(), async (commits, version, anywhere) => {
        const { stream, history, appends } = await written(subject, commits);
        const commit = appends[anywhere % appends.length]!.head.commit;
        fc.pre(history[version - 1]?.commit !== commit);

        const strange = { version, commit };
        assert.deepEqual(await stream.read(strange), { status: 'reset' });
        const astray = await stream.append(strange, nextCommit(), [history[0]!]);
        assert.deepEqual(astray, { status: 'reset' });
        assert.deepEqual(await stream.history(), history);
      }),
      parameters(subject),
    );
  },

  'for any events, two streams of any two names are independent': async (subject) => {
    const anyName = fc.string({ unit: 'binary', maxLength: 100 });
    const twoNames = fc.tuple(anyName, anyName).filter(([one, other]) => one !== other);
    await fc.assert(
      fc.asyncProperty(twoNames, anyEvent, async (names, event) => {
        const unique = randomUUID();
        const one = new Stream(subject.store, streamName(`${names[0]}${unique}`));
        const other = new Stream(subject.store, streamName(`${names[1]}${unique}`));

        const { commit } = await one.add(BEGINNING, event);

        assert.deepEqual(await other.history(), []);
        assert.deepEqual(await one.history(), recorded(BEGINNING, commit, [event]));
      }),
      parameters(subject),
    );
  },
};

function parameters({ seed, effort }: Subject): { readonly seed: number; readonly numRuns: number } {
  return { seed, numRuns: Math.ceil(20 * effort) };
}

interface PlannedAppend {
  readonly expected: Head;
  readonly head: Head;
  readonly events: readonly EncodedEvent[];
}

/** A new stream that `commits` were appended to one after the other. */
async function written(subject: Subject, commits: readonly (readonly EncodedEvent[])[]) {
  const stream = new Stream(subject.store);
  const appends: PlannedAppend[] = [];
  const history: StoredEvent[] = [];
  for (const events of commits) {
    const expected = appends.at(-1)?.head ?? BEGINNING;
    const head = await stream.add(expected, ...events);
    appends.push({ expected, head, events });
    history.push(...recorded(expected, head.commit, events));
  }
  return { stream, history, appends };
}

/** Some place in a history, the beginning and the end among them. */
function place(history: readonly Head[], anywhere: number): Head {
  const at = history[(anywhere % (history.length + 1)) - 1];
  return at ? headOf(at) : BEGINNING;
}
