/** First suite of the contract, part 5: concurrent calls. */
import assert from 'node:assert/strict';
import { setImmediate as otherWork } from 'node:timers/promises';
import { BEGINNING, headOf } from '../event-sourcing';
import { type Stream, nextCommit, recorded } from './a-stream';
import type { Cases, Subject } from './case';

export const racingExamples: Cases = {
  'concurrently, an append is never partly visible': (subject) => {
    const stream = subject.aStream();
    return watchAppends(subject, stream, [stream, stream]);
  },

  'concurrently, an append that is repeated while it is in flight is recorded once, with the same result':
    async (subject) => {
      const stream = subject.aStream();
      const [a, b, c] = subject.few;
      const head = await stream.add(BEGINNING, c);
      const commit = nextCommit();

      const answers = await Promise.all([1, 2, 3].map(() => stream.append(head, commit, [a, b])));

      for (const answer of answers) {
        assert.deepEqual(answer, { status: 'appended', head: { version: 3, commit } });
      }
      assert.deepEqual(await stream.history(head), recorded(head, commit, [a, b]));
    },

  'concurrently, several writers lose nothing, write nothing twice, leave no gap, and keep their own order': (
    subject,
  ) => {
    const stream = subject.aStream();
    return race(subject, [stream, stream, stream, stream]);
  },
};

/** Appends three events at a time to a stream, while each of `watched`, the same stream, is read. */
export async function watchAppends(
  subject: Subject,
  stream: Stream,
  watched: readonly Stream[],
): Promise<void> {
  const [a, b, c] = subject.few;
  let writing = true;

  const write = async () => {
    for (let head = BEGINNING; head.version < 150;) head = await stream.add(head, a, b, c);
  };
  const watch = async (stream: Stream) => {
    for (let head = BEGINNING; writing;) {
      const newer = await stream.history(head);
      assert.equal(newer.length % 3, 0, 'every append is of three events');
      const last = newer.at(-1);
      if (last) head = headOf(last);
      // Otherwise the reads of a store in memory would starve its writes.
      await otherWork();
    }
  };
  await Promise.all([write().finally(() => (writing = false)), ...watched.map(watch)]);
  for (const each of watched)
    assert.equal((await each.history()).length, 150, 'every event is visible at the end');
}

const APPENDS = 100;

/** Lets one writer for each of `streams`, all the same stream, append concurrently, and checks the history. */
export async function race(subject: Subject, streams: readonly Stream[]): Promise<void> {
  const events = subject.events(APPENDS);
  const total = streams.length * APPENDS;

  /** The commits that each writer appended, in order. */
  const appended = await Promise.all(
    streams.map(async (stream) => {
      const commits: string[] = [];
      for (let head = BEGINNING; commits.length < APPENDS;) {
        const commit = nextCommit();
        const result = await stream.append(head, commit, [events[commits.length]!]);
        assert(
          result.status !== 'reset' && result.status !== 'archived',
          'a history that the store had returned was lost or overwritten',
        );
        // Checked first; otherwise the loop would not end.
        assert(head.version < total, 'more was recorded than was appended');
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

  const history = await streams[0]!.history();
  assert.equal(
    history.length,
    total,
    `${total} events were acknowledged, and ${history.length} are recorded`,
  );
  assert.deepEqual(
    history.map(({ version }) => version),
    history.map((_, index) => index + 1),
  );
  for (const commits of appended) {
    const own = history.filter(({ commit }) => commits.includes(commit));
    assert.deepEqual(
      own.map(({ commit, type, data }) => ({ commit, type, data })),
      commits.map((commit, index) => ({ commit, ...events[index] })),
    );
  }
}
