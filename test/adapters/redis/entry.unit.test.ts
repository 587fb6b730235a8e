import { expect } from 'chai';
import { type Entry, PackedEntries, decodeEntry, headOfEntry } from '../../../src/adapters/redis/entry';
import { type Codec, UnreadableHistory } from '../../../src/event-sourcing';

const COMMIT = '2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4';
const FERN = '{"id":1,"name":"Fern"}';

/** Decodes one event type with any data. */
const codec: Codec<string> = {
  encode: (data) => ({ type: 'Noted', data }),
  decode: ({ type, data }) => (type === 'Noted' ? data : undefined),
};

/** An entry as the store writes it; each test changes one part. */
function entry({ id = '7-0', type = 'Noted', data = FERN } = {}): Entry {
  return { id, recorded: { type, data, commit: COMMIT } };
}

describe('An entry of a Redis stream', () => {
  it('is read with its version and commit', () => {
    expect(decodeEntry(entry(), 7, codec)).to.deep.equal({ version: 7, commit: COMMIT, event: FERN });
  });

  it('shows its head without being decoded, unless it is irregular', () => {
    expect(headOfEntry(entry({ data: 'unreadable' }))).to.deep.equal({ version: 7, commit: COMMIT });
    for (const id of ['7-1', '07-0', '-0', 'x-0', '7'])
      expect(headOfEntry(entry({ id })), id).to.equal(undefined);
    expect(headOfEntry({ id: '7-0' })).to.equal(undefined);
  });

  it('is unreadable if the codec cannot decode it; the error names the entry, without user data', () => {
    expect(() => decodeEntry(entry({ type: 'Moved', data: '{"to":"the attic"}' }), 7, codec)).to.throw(
      UnreadableHistory,
      /^entry 7-0 is not a valid Moved of this version$/,
    );
  });

  it('is unreadable if the codec fails', () => {
    const fault = new TypeError('a fault of the codec');
    const broken: Codec<string> = {
      ...codec,
      decode: () => {
        throw fault;
      },
    };
    expect(() => decodeEntry(entry(), 7, broken))
      .to.throw(UnreadableHistory, /^entry 7-0 is not a valid Noted of this version$/)
      .with.property('cause', fault);
  });

  it('is unreadable if it has other fields', () => {
    expect(() => decodeEntry({ id: '7-0' }, 7, codec)).to.throw(
      UnreadableHistory,
      'entry 7-0 does not have the fields type, data and commit',
    );
  });

  for (const id of ['8-0', '6-0', '7-1', '07-0', '7', '1795209633123-0', '']) {
    it(`is unreadable with the id ${JSON.stringify(id)} where 7-0 is expected`, () =>
      expect(() => decodeEntry(entry({ id }), 7, codec)).to.throw(UnreadableHistory, `entry ${id} `));
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

  it('give the last one without decoding those before it', () => {
    const broken = packed('7-0', 'Noted', Buffer.from('F\xc3', 'latin1'), COMMIT);
    const other = Buffer.concat([packed('8-0'), Buffer.alloc(4, 0xff)]);
    const entries = new PackedEntries(Buffer.concat([broken, other, packed('9-0', 'Noted', 'last', COMMIT)]));
    expect(entries.last()).to.deep.equal(entry({ id: '9-0', data: 'last' }));
    expect(() => entries.next()).to.throw(UnreadableHistory, /^entry 7-0 /);
    expect(entries.rest()).to.deep.equal([{ id: '8-0' }, entry({ id: '9-0', data: 'last' })]);
    expect(entries.last()).to.equal(undefined);
  });

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
