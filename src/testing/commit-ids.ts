/** First suite of the contract, part 4: commit ids, which a column of a database may cut, pad or compare loosely. */
import assert from 'node:assert/strict';
import { BEGINNING } from '../event-sourcing';
import { assertStatus, nextCommit, recorded } from './a-stream';
import type { Cases } from './case';

export const commitIdExamples: Cases = {
  'a commit id is read exactly as it was appended: as the service mints it, long, in mixed case, in any script':
    async (subject) => {
      const stream = subject.aStream();
      const [event] = subject.few;
      const commits = oddCommits();

      for (const [version, commit] of commits.entries()) {
        const expected = version === 0 ? BEGINNING : { version, commit: commits[version - 1]! };
        const result = await stream.append(expected, commit, [event]);
        assert.deepEqual(result, { status: 'appended', head: { version: version + 1, commit } });
      }

      const history = await stream.history();
      assert.deepEqual(
        history.map(({ commit }) => commit),
        commits,
      );
    },

  'a commit id is no other one: cut, padded, in another case or another normal form, it is unknown': async (
    subject,
  ) => {
    const [a, b] = subject.few;
    for (const commit of oddCommits()) {
      const stream = subject.aStream();
      const first = await stream.append(BEGINNING, commit, [a]);
      for (const similar of similarCommits(commit)) {
        const what = `${JSON.stringify(commit)} was appended, and ${JSON.stringify(similar)} is`;

        const read = await stream.read({ version: 1, commit: similar });
        assert.deepEqual(
          [`${what} the head of a read`, read],
          [`${what} the head of a read`, { status: 'reset' }],
        );

        const other = await stream.append(BEGINNING, similar, [b]);
        assertStatus(other, 'conflict');
        assert.deepEqual([what, other.events], [what, recorded(BEGINNING, commit, [a])]);
      }
      assert.deepEqual(await stream.append(BEGINNING, commit, [a]), first);
      assert.deepEqual(await stream.history(), recorded(BEGINNING, commit, [a]));
    }
  },
};

/** Commit ids that are valid, and that a store could easily change. */
export function oddCommits(): string[] {
  return [
    nextCommit(),
    'MiXeD cAsE'.repeat(25),
    '🌵'.repeat(127),
    'Straße İ \u00e9 e\u0301 観葉植物',
    ' blanks around ',
    '0123',
    'null',
    '\'"\\%_',
    '\0\n\u2028\ufeff',
  ];
}

/** What a store may take for `commit`, if it changes ids or compares them loosely. */
function similarCommits(commit: string): string[] {
  const similar = [
    commit.slice(0, -1),
    commit.slice(0, 36),
    `${commit} `,
    commit.trim(),
    commit.toLowerCase(),
    commit.toUpperCase(),
    commit.normalize('NFC'),
    commit.normalize('NFD'),
    String(Number(commit)),
  ];
  return [...new Set(similar)].filter((text) => text !== commit && text !== '' && text.isWellFormed());
}
