/** Values of the engine and of its ports: events as JSON, names of streams, and faults. */
import { inspect } from 'node:util';
import { expect } from 'chai';
import { PROCESS_CLOCK } from '../../src/adapters/redis/clock';
import { systemClock } from '../../src/adapters/system';
import {
  BrokenSnapshot,
  OutcomeUnknown,
  StoreFault,
  StoreUnavailable,
  UnreadableHistory,
  jsonCodec,
  parseJsonObject,
  parseStreamName,
  partsOf,
  streamOf,
} from '../../src/event-sourcing';

type Event =
  | { readonly type: 'Moved'; readonly to: string; readonly by?: number }
  | { readonly type: 'Stopped' };

describe('The JSON of an event', () => {
  const isText = (value: unknown) => typeof value === 'string';
  const isCount = (value: unknown) => value === undefined || Number.isSafeInteger(value);
  const { encode, decode } = jsonCodec<Event>({ Moved: { to: isText, by: isCount }, Stopped: {} });

  it('contains its members in the order of their checks, without undefined ones, and can be read again', () => {
    const moved = encode({ by: 3, to: 'the left', type: 'Moved' });
    expect(moved).to.deep.equal({ type: 'Moved', data: '{"to":"the left","by":3}' });
    expect(decode(moved)).to.deep.equal({ type: 'Moved', to: 'the left', by: 3 });
    const by = undefined as unknown as number;
    expect(encode({ type: 'Moved', to: '', by }).data).to.equal('{"to":""}');
    expect(decode({ type: 'Stopped', data: '{}' })).to.deep.equal({ type: 'Stopped' });
  });

  for (const [what, event, message] of [
    [
      'a member that is missing',
      { type: 'Moved' },
      'the member to of Moved could not be read again: its check',
    ],
    [
      'a member that breaks its check',
      { type: 'Moved', to: 'here', by: 0.5 },
      'the member by of Moved',
    ],
    [
      'a member without a check',
      { type: 'Moved', to: 'here', from: 'there' },
      'the member from of Moved',
    ],
    ['an unknown type', { type: 'Jumped' }, 'the codec has no event of the type Jumped'],
    [
      'a type named as a method of objects',
      { type: 'constructor' },
      'the codec has no event of the type',
    ],
  ] as const)
    it(`is not written with ${what}`, () => {
      expect(() => encode(event as Event)).to.throw(TypeError, message);
    });

  describe('with a check that accepts anything', () => {
    const loose = jsonCodec<{ readonly type: 'Noted'; readonly n: 1; readonly value?: unknown }>({
      Noted: { n: () => true, value: () => true },
    });
    const noted = (value: unknown) => ({ type: 'Noted', n: 1, value }) as const;
    const cyclic: Record<string, unknown> = {};
    cyclic['itself'] = cyclic;
    class Money {
      constructor(readonly cents: number) {}
    }

    for (const value of [
      NaN,
      -Infinity,
      -0,
      [-0],
      7n,
      Symbol('s'),
      () => 1,
      new Date(0),
      new Map([[1, 2]]),
      new Set(),
      new Money(1),
      cyclic,
      new Uint8Array(2),
      [undefined],
      Array(2),
      { toJSON: () => 1 },
      Object('text'),
    ])
      for (const [where, member] of [
        ['', value],
        [' in an object in a list', [{ a: value }]],
      ] as const)
        it(`is not written with a value that JSON changes: ${inspect(value)}${where}`, () => {
          const message =
            'the member value of Noted could not be read again: JSON cannot represent its value';
          expect(() => loose.encode(noted(member))).to.throw(TypeError, message);
        });

    for (const value of [
      null,
      0,
      1e300,
      'e\u0301 \ud800',
      [[], {}],
      { a: { b: [null, undefined].slice(0, 1) }, c: undefined },
    ])
      it(`is read as it was written: ${inspect(value)}`, () => {
        const read = loose.decode(loose.encode(noted(value)));
        expect(read).to.deep.equal(JSON.parse(JSON.stringify(noted(value))));
      });
  });

  it('is not read unless it is exactly as it would be written', () => {
    for (const text of [
      'Moved ',
      'Moved null',
      'Moved "to"',
      'Moved {"to":7}',
      'Moved {"to":"here","by":"3"}',
      'Moved {"to": "here"}',
      'Moved {"by":3,"to":"here"}',
      'Moved {"to":"there","to":"here"}',
      'Moved {"to":"here","more":1}',
      'Moved {"to":"here","by":3.0}',
      'Stopped ',
      'Stopped []',
      'Stopped null',
      'Jumped {}',
      'toString {}',
    ]) {
      const [, type, data] = /^(\w+) (.*)$/.exec(text)!;
      expect(decode({ type: type!, data: data! }), text).to.equal(undefined);
    }
  });

  it('has no members unless it is an object', () => {
    expect(parseJsonObject('{"to":"here"}')).to.deep.equal({ to: 'here' });
    for (const text of ['[]', '["here"]', '"here"', '7', 'null', '', '{'])
      expect(parseJsonObject(text), text).to.deep.equal({});
  });
});

describe('A stream name', () => {
  const longest = `c${'-'.repeat(31)}`;

  it('has an id of 1 to 255 characters, and may have a category', () => {
    const ids = ['a', 'ada lovelace', 'a\nb', '{}%:', 'x'.repeat(255), '🌱'.repeat(255)];
    for (const text of [...ids, `${longest}/${'x'.repeat(255)}`, `plants/${'🌱'.repeat(255)}`])
      expect(parseStreamName(text), text.slice(0, 40)).to.equal(text);
    const tooLong = ['x', '🌱'].flatMap((each) => [each.repeat(256), `plants/${each.repeat(256)}`]);
    for (const text of ['', ...tooLong, `Plants/${'x'.repeat(250)}`, '\ud800', 'a/\udc00b'])
      expect(parseStreamName(text), text.slice(0, 40)).to.equal(undefined);
  });

  it('is made of a category and an id, and has these parts', () => {
    for (const category of ['plants', 'log-2', longest])
      for (const id of ['alice', '/', 'gardens/alice', '\n', '🌱'.repeat(255)]) {
        expect(parseStreamName(streamOf(category, id))).to.equal(`${category}/${id}`);
        expect(partsOf(streamOf(category, id))).to.deep.equal({ category, id });
      }
    const plain = [
      'alice',
      'plants/',
      '/alice',
      'Plants/alice',
      '2/alice',
      'a b/c',
      'é/b',
      `c${longest}/x`,
    ];
    for (const id of plain)
      expect(partsOf(parseStreamName(id)!), id).to.deep.equal({ category: undefined, id });
  });

  it('is not made of an invalid category or id', () => {
    for (const category of ['', 'counters/a', 'Counters', '7', 'a'.repeat(33)])
      expect(() => streamOf(category, 'a'), category).to.throw(TypeError, 'a category must be');
    for (const id of ['', '🌵'.repeat(256), '\ud800', 'a\udc00b', null as never])
      expect(() => streamOf('counters', id), id).to.throw(TypeError, 'the id of a stream must be');
  });
});

describe('A fault of a store', () => {
  it('is exactly one of StoreUnavailable, UnreadableHistory and OutcomeUnknown', () => {
    const faults = [new StoreUnavailable(), new UnreadableHistory(), new OutcomeUnknown()];
    const isFault = (error: unknown) => error instanceof StoreFault;
    expect(faults.filter(isFault)).to.deep.equal(faults);
    expect([new BrokenSnapshot(), new TypeError(), undefined].filter(isFault)).to.deep.equal([]);
    expect(faults.filter((error) => error instanceof StoreUnavailable)).to.deep.equal([faults[0]]);
    expect(faults.map(({ name }) => name)).to.deep.equal(
      faults.map(({ constructor }) => constructor.name),
    );
    expect(new StoreUnavailable()).to.deep.include({ reason: 'store', retryAfterMs: undefined });
  });
});

for (const [name, clock] of Object.entries({
  'The clock of the system': systemClock,
  'The default clock of the Redis adapter': PROCESS_CLOCK,
}))
  describe(name, () => {
    it('does not fire early if it is asked to wait longer than a timer can', async () => {
      let happened = false;
      const cancel = clock.after(Infinity, () => (happened = true));
      await new Promise((resolve) => setTimeout(resolve, 10));
      cancel();
      expect(happened).to.equal(false);
    });
  });
