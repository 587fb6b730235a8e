import { expect } from 'chai';
import { type Entry, PackedEntries, eventOf } from '../../../src/adapters/redis/entry';
import { UnreadableHistory } from '../../../src/event-sourcing';

const COMMIT = '2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4';
const FERN = '{"id":1,"name":"Fern"}';

/** An entry as the store writes it; each test changes one part. */
function entry({ id = '7-0', type = 'Noted', data = FERN } = {}): Entry {
  return { id, recorded: { type, data, commit: COMMIT } };
}

describe('An entry of a Redis stream', () => {
  it('is read with its version and commit', () => {
    expect(eventOf(entry(), 7)).to.deep.equal({ version: 7, commit: COMMIT, type: 'Noted', data: FERN });
  });

  it('is unreadable if it has other fields', () => {
    expect(() => eventOf({ id: '7-0' }, 7)).to.throw(
      UnreadableHistory,
      'entry 7-0 does not have the fields type, data and commit',
    );
  });

  for (const id of ['8-0', '6-0', '7-1', '07-0', '7', '1795209633123-0', '']) {
    it(`is unreadable with the id ${JSON.stringify(id)} where 7-0 is expected`, () =>
      expect(() => eventOf(entry({ id }), 7)).to.throw(UnreadableHistory, `entry ${id} `));
  }
});

/** As the scripts pack an entry. */
function packed(...texts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(text));
      return [length, Buffer.from(text)];
    }),
  );
}

describe('Packed entries', () => {
  it('are unpacked, with texts of any length and character', () => {
    const texts = ['', ' ', 'a\n0', 'ü€🌿', '\ufffd', 'x'.repeat(70_000)];
    for (const data of texts) {
      const bytes = Buffer.concat([packed('7-0', 'Noted', data, COMMIT), packed('8-0', '', '', '')]);
      expect(new PackedEntries(bytes).rest()).to.deep.equal([
        entry({ data }),
        { id: '8-0', recorded: { type: '', data: '', commit: '' } },
      ]);
    }
  });

  it('are none in an empty page', () => expect(new PackedEntries(Buffer.alloc(0)).rest()).to.deep.equal([]));

  it('are unreadable with a text that is not UTF-8', () => {
    const bad = Buffer.from('F\xc3', 'latin1');
    for (const bytes of [
      packed('7-0', bad, '{}', COMMIT),
      packed('7-0', 'Noted', bad, COMMIT),
      packed('7-0', 'Noted', '{}', bad),
    ])
      expect(() => new PackedEntries(bytes).rest()).to.throw(UnreadableHistory, /^entry 7-0 is not UTF-8$/);
  });
});
