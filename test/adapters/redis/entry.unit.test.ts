import { expect } from 'chai';
import { decodeEntry } from '../../../src/adapters/redis/entry';
import { type Codec, UnreadableHistory } from '../../../src/event-sourcing';

const COMMIT = '2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4';
const FERN = '{"id":1,"name":"Fern"}';

/** Decodes one event type with any data. */
const codec: Codec<string> = {
  encode: (data) => ({ type: 'Noted', data }),
  decode: ({ type, data }) => (type === 'Noted' ? data : undefined),
};

/** An entry as the store writes it; each test changes one part. */
function entry({ id = '7-0', type = 'Noted', data = FERN } = {}) {
  return [id, ['type', type, 'data', data, 'commit', COMMIT]] as const;
}

describe('An entry of a Redis stream', () => {
  it('is read with its version and commit', () => {
    expect(decodeEntry(entry(), 7, codec)).to.deep.equal({ version: 7, commit: COMMIT, event: FERN });
  });

  it('is unreadable if the codec cannot decode it; the error names the entry, without user data', () => {
    expect(() => decodeEntry(entry({ type: 'Moved', data: '{"to":"the attic"}' }), 7, codec)).to.throw(
      UnreadableHistory,
      /^entry 7-0 is not a valid Moved of this version$/,
    );
  });
});

describe('An entry of a Redis stream is unreadable with', () => {
  function refuses(what: string, changed: readonly [string, readonly string[]]): void {
    it(what, () =>
      expect(() => decodeEntry(changed, 7, codec)).to.throw(UnreadableHistory, `entry ${changed[0]} `),
    );
  }

  for (const id of ['8-0', '6-0', '7-1', '07-0', '7', '1795209633123-0', '']) {
    refuses(`the id ${JSON.stringify(id)} where 7-0 is expected`, entry({ id }));
  }

  const fields = {
    'no field': [],
    'a missing field': ['type', 'Noted', 'data', FERN],
    'an additional field': [...entry()[1], 'user', 'alice'],
    'a duplicate field': ['type', 'Noted', 'data', FERN, 'data', FERN],
    'the fields in another order': ['data', FERN, 'type', 'Noted', 'commit', COMMIT],
    'a field with another name': ['Type', 'Noted', 'data', FERN, 'commit', COMMIT],
    'another name for the data': ['type', 'Noted', 'json', FERN, 'commit', COMMIT],
    'another name for the commit': ['type', 'Noted', 'data', FERN, 'id', COMMIT],
  };
  for (const [what, list] of Object.entries(fields)) refuses(what, ['7-0', list]);
});
