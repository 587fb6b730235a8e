import { expect } from 'chai';
import fc from 'fast-check';
import { JsonNumber, parseJson } from '../../src/application';

/** Characters that a parser can confuse: structure, escapes, white space, and the characters of numbers. */
const PIECES = [
  ...Array.from('{}[]:,"\\ \n\t\u00a0\u0001/bfnrtue0123456789+-.E'),
  ...[
    'true',
    'false',
    'null',
    '"a"',
    '"b":',
    '"__proto__":',
    '\\u00e9',
    '\\ud83c',
    '🌿',
    '[]',
    '{}',
    '-1.5e3',
  ],
];

const parse = (text: string) => parseJson(Buffer.from(text));

/** The value of `parseJson` as JSON.parse returns it. */
function rounded(value: unknown): unknown {
  if (value instanceof JsonNumber) return Number(value.literal);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]));
}

/** The outcome of a parser: a value, or the error's name. */
function outcome(parse: () => unknown): unknown {
  try {
    // Compared as text, in which -0 is 0 and prototypes do not occur.
    return JSON.stringify(parse());
  } catch (error) {
    return (error as Error).name;
  }
}

function expectSameAsJsonParse(text: string): void {
  const expected = outcome(() => JSON.parse(text) as unknown);
  expect(
    outcome(() => rounded(parse(text))),
    JSON.stringify(text),
  ).to.equal(expected);
}

describe('The value of a JSON text', () => {
  it('equals that of JSON.parse except for exact numbers, for any value and layout', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t', '\r\n'), (value, layout) => {
        expectSameAsJsonParse(JSON.stringify(value, null, layout));
      }),
      { numRuns: 1000 },
    );
  });

  it('is refused if JSON.parse refuses it: a value with a piece removed, inserted or replaced', () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      drop: fc.integer({ min: 0, max: 2 }),
      insert: fc.constantFrom('', ...PIECES),
    });
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        (value, edits) => {
          const text = edits.reduce((before, { at, drop, insert }) => {
            const start = Math.floor(at * (before.length + 1));
            return before.slice(0, start) + insert + before.slice(start + drop);
          }, JSON.stringify(value));
          fc.pre(text.isWellFormed() && !repeats(text));
          expectSameAsJsonParse(text);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('is refused if JSON.parse refuses it: pieces in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        fc.pre(!repeats(text));
        expectSameAsJsonParse(text);
      }),
      { numRuns: 3000 },
    );
  });

  for (const text of [
    '"\u0001"',
    '"a\nb"',
    '"a longer string with a\ttab"',
    '"\\u0001"',
    '"\\',
    '"\\"',
    '"\\u00e"',
    '"\\x41"',
    '{"__proto__":{"a":1}}',
    '{"a":1}}',
    '{"a":[1}}',
    '{"a":1,,"b":2}',
    "{'a':1}",
    '{a:1}',
    '[1]]',
    '[1,]',
    '{,}',
    '-',
    '1.',
    '.5',
    '1e',
    '01',
    '1 0',
    'NaN',
    '/* */1',
    'nul',
    '',
    ' ',
    '\ufeff1',
  ]) {
    it(`is accepted or refused like by JSON.parse: ${JSON.stringify(text)}`, () => {
      expectSameAsJsonParse(text);
    });
  }

  it('has each number as its literal, with all digits', () => {
    const literals = [
      '-9223372036854775808',
      '9223372036854775807.0',
      '9223372036854775808',
      '1.5e-400',
      '-0',
    ];
    const numbers = parse(`[${literals.join()}]`) as JsonNumber[];
    for (const number of numbers) expect(number).to.be.instanceOf(JsonNumber);
    expect(numbers.map(({ literal }) => literal)).to.deep.equal(literals);
  });

  it('may have a member twice with equal values', () => {
    for (const [one, other] of [
      ['1', '1'],
      ['"a"', '"\\u0061"'],
      ['null', 'null'],
      ['true', ' true'],
      ['[]', '[ ]'],
      ['[1,"a"]', '[1.0,"a"]'],
      ['{}', '{ }'],
      ['{"a":1,"b":[2]}', '{"b":[2.0],"a":10e-1}'],
      ['100', '1e2'],
      ['-0.50', '-5E-1'],
      ['1e30', '1000000000000000000000000000000'],
      ['1e400', '10.00E+399'],
      ['1e9007199254740993', '10e9007199254740992'],
      ['{"__proto__":1}', '{"__proto__":1e0}'],
    ])
      expect(parse(`{"x":${one},"y":3,"x":${other}}`), `${one} and ${other}`).to.have.keys('x', 'y');
  });

  it('has no member twice with different values', () => {
    for (const [one, other] of [
      ['1', '2'],
      ['1', '-1'],
      ['1', '10'],
      ['12', '1.2'],
      ['1', '"1"'],
      ['1', '{}'],
      ['1', '{"literal":"1"}'],
      ['1', 'null'],
      ['"a"', '"b"'],
      ['null', 'false'],
      ['null', '{}'],
      ['null', '[]'],
      ['true', 'false'],
      ['[]', '{}'],
      ['[1]', '{"0":1}'],
      ['[1,2]', '[2,1]'],
      ['[1,2]', '[1]'],
      ['[1,2]', '[1,3]'],
      ['{"a":1}', '{"b":1}'],
      ['{"a":1,"b":2}', '{"a":1}'],
      ['{"a":1,"b":2}', '{"a":1,"b":3}'],
      ['{"a":[{"b":0.1}]}', '{"a":[{"b":0.2}]}'],
      ['{}', '{"__proto__":{}}'],
      ['0.5', '-0.5'],
      ['0.1', '0.10000000000000000001'],
      ['9223372036854775807', '9223372036854775808'],
      ['1e400', '2e400'],
      ['1e400', '1e401'],
      ['1e-400', '2e-400'],
      ['1e-400', '0'],
      ['1e9007199254740992', '1e9007199254740993'],
      ['1e1001', '1'],
      [`1e1${'0'.repeat(1000)}`, '1'],
      ['1', `1e1${'0'.repeat(1000)}`],
    ]) {
      for (const [first, second] of [
        [one, other],
        [other, one],
      ])
        expect(() => parse(`{"x":${first},"x":${second}}`), `${first} and ${second}`).to.throw(
          SyntaxError,
          'a member twice, with different values',
        );
    }
  });

  it('is nested at most 1,000 deep, and as wide as the text is long', () => {
    const nested = (open: string, close: string, depth: number) =>
      `${open.repeat(depth)}1${close.repeat(depth)}`;
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      expect(() => parse(nested(open, close, 1000))).not.to.throw();
      expect(() => parse(nested(open, close, 1001))).to.throw(RangeError, 'nested too deep');
      expect(() =>
        parse(
          `[${Array(3000)
            .fill(nested(open, close, 1))
            .join()}]`,
        ),
      ).not.to.throw();
    }
  });

  it('is refused with the reason', () => {
    for (const [text, reason] of Object.entries({
      '1 2': 'more than one value',
      '{1:2}': 'no name of a member',
      '{"a" 1}': 'no colon',
      '{"a":1': 'no end of an object',
      '[1': 'no end of an array',
      '"a': 'no end of a string',
      '[,]': 'no value',
      tru: 'no value',
    }))
      expect(() => parse(text), text).to.throw(SyntaxError, reason);
  });

  it('may have equal duplicates with exponents of up to 1,000 digits, and beyond that only equal literals', () => {
    const accepts = (a: string, b: string) =>
      outcome(() => rounded(parse(`{"x":${a},"x":${b}}`))) !== 'SyntaxError';
    const [long, longer] = ['9'.repeat(1000), '9'.repeat(1001)];
    expect(accepts(`1e${long}`, `1.0e${long}`)).to.equal(true);
    expect(accepts(`1e${long}`, `1.1e${long}`)).to.equal(false);
    expect(accepts(`1e${longer}`, `1e${longer}`)).to.equal(true);
    expect(accepts(`1e${longer}`, `1.0e${longer}`)).to.equal(false);
    // Zero with any exponent is zero, and leading zeros of an exponent are ignored.
    expect(accepts(`0e${longer}`, '-0.0')).to.equal(true);
    expect(accepts(`7e${'0'.repeat(2000)}1`, '70')).to.equal(true);
    expect(accepts(`7e-${'0'.repeat(2000)}1`, '0.7')).to.equal(true);
  });
});

/** Whether a member may occur twice. JSON.parse allows it. */
function repeats(text: string): boolean {
  const names = [...text.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/gs)].map(([, name]) => name!);
  return names.some((name) => name.includes('\\')) || new Set(names).size < names.length;
}
