/** The values of the ports: names of streams, and faults. */
import { expect } from 'chai';
import {
  BrokenSnapshot,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
  isStoreFault,
  parseStreamName,
  partsOf,
  streamOf,
} from '../../src/event-sourcing';

const shown = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

describe('A stream name', () => {
  const longest = `c${'-'.repeat(31)}`;
  const names = [
    'a',
    'ada lovelace',
    'a\nb',
    '{}%:',
    'x'.repeat(255),
    '🌱'.repeat(255),
    `${longest}/${'x'.repeat(255)}`,
  ];
  for (const text of [...names, `plants/${'🌱'.repeat(255)}`])
    it(`is ${shown(text)} of ${text.length}`, () => expect(parseStreamName(text)).to.equal(text));

  const tooLong = [256, 300].flatMap((length) => ['x'.repeat(length), `plants/${'x'.repeat(length)}`]);
  for (const text of ['', ...tooLong, `Plants/${'x'.repeat(250)}`, '🌱'.repeat(256), '\ud800', 'a/\udc00b'])
    it(`is not ${shown(text)} of ${text.length}`, () => expect(parseStreamName(text)).to.equal(undefined));

  const parts = [
    ['plants', 'alice'],
    ['plants', '/'],
    ['plants', 'gardens/alice'],
    ['plants', '\n'],
    ['a', 'b'],
    ['log-2', '🌱'.repeat(255)],
    [longest, 'x'],
  ] as const;
  for (const [category, id] of parts)
    it(`has the parts ${category} and ${shown(id)}`, () => {
      expect(parseStreamName(streamOf(category, id))).to.equal(`${category}/${id}`);
      expect(partsOf(streamOf(category, id))).to.deep.equal({ category, id });
    });

  for (const id of ['alice', 'plants/', '/alice', 'Plants/alice', '2/alice', 'a b/c', 'é/b', `c${longest}/x`])
    it(`without a category is its id: ${id}`, () => {
      expect(partsOf(parseStreamName(id)!)).to.deep.equal({ category: undefined, id });
    });
});

describe('A fault', () => {
  const faults: readonly (readonly [error: unknown, isFault: boolean, shows: object])[] = [
    [
      new StoreUnavailable('away'),
      true,
      { name: 'StoreUnavailable', message: 'away', reason: 'store', retryAfterMs: undefined },
    ],
    [
      new StoreUnavailable('later', { reason: 'loading', retryAfterMs: 7 }),
      true,
      { reason: 'loading', retryAfterMs: 7 },
    ],
    [new UnreadableHistory(), true, { name: 'UnreadableHistory', reason: 'unreadable' }],
    [new OutcomeUnknown(), true, { name: 'OutcomeUnknown' }],
    [new BrokenSnapshot(), false, { name: 'BrokenSnapshot' }],
    [new TypeError('a bug'), false, { name: 'TypeError' }],
    [undefined, false, {}],
  ];
  for (const [error, isFault, shows] of faults)
    it(`${isFault ? 'is' : 'is not'} ${String(error)}`, () => {
      expect(isStoreFault(error)).to.equal(isFault);
      if (error !== undefined) expect(error).to.include(shows);
    });
});
