import { expect } from 'chai';
import fc from 'fast-check';
import { type PlantId, canonicalInteger, parsePlantId } from '../../src/domain';
import { heapAfterGc } from '../support/heap';
import { cpuMilliseconds } from '../support/cpu-time';
import { MAX_INT64, MIN_INT64, RUNS } from './arbitraries';

function isInt64(value: bigint): boolean {
  return MIN_INT64 <= value && value <= MAX_INT64;
}

describe('A plant id in canonical text', () => {
  for (const text of ['0', '7', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808']) {
    it(`is ${text} itself`, () => expect(parsePlantId(text)).to.equal(text));
  }

  it('ends at 2^63-1 and at -2^63', () => {
    expect(parsePlantId('9223372036854775808')).to.be.undefined;
    expect(parsePlantId('-9223372036854775809')).to.be.undefined;
    expect(parsePlantId('10000000000000000000')).to.be.undefined;
  });

  for (const text of ['', '-', '01', '-01', '00', '+1', '-0', '1.0', '1e0', '0x1', '1n', '1_0', '--1']) {
    it(`is not ${JSON.stringify(text)}`, () => expect(parsePlantId(text)).to.be.undefined);
  }

  it('has no other characters around it, and only the digits 0 to 9', () => {
    for (const text of [' 1', '1 ', '1\n', '\n1', '1\0', '\ufeff1', '1,', '٣', '１', '1\n2']) {
      expect(parsePlantId(text), JSON.stringify(text)).to.be.undefined;
    }
  });

  it('is exactly what BigInt prints', () => {
    const nearlyId = fc.oneof(
      fc.string({ unit: fc.constantFrom(...Array.from('0123456789-+. ')), maxLength: 22 }),
      fc.bigInt({ min: MIN_INT64 * 3n, max: MAX_INT64 * 3n }).map(String),
    );
    fc.assert(
      fc.property(nearlyId, (text) => {
        const spells = /^-?[0-9]+$/.test(text) && BigInt(text).toString() === text && isInt64(BigInt(text));
        expect(parsePlantId(text)).to.equal(spells ? text : undefined);
      }),
      { numRuns: 5 * RUNS },
    );
  });
});

describe('A plant id from a JSON number', () => {
  const values: Record<string, readonly string[]> = {
    '7': [
      '7',
      '7.0',
      '7.000',
      '7e0',
      '7E+0',
      '7e-0',
      '0.7e1',
      '0.7E1',
      '70e-1',
      '0.0007e4',
      '7e00000000000000000000',
    ],
    '-7': ['-7', '-7.0', '-70e-1', '-0.7e+1'],
    '0': [
      '0',
      '-0',
      '0.0',
      '-0.0',
      '0e0',
      '0e999999999',
      '0e-999999999',
      '-0.000e1000000000',
      '0e' + '9'.repeat(400),
    ],
    '10': ['10', '1e1', '1.0e1', '100e-1', '1e0000000000000000000000001'],
    '9007199254740993': ['9007199254740993', '9007199254740993.0', '9007199254.740993e6'],
    '9007199254740992': ['9007199254740992'],
    '9223372036854775807': ['9223372036854775807', '9.223372036854775807e18', '922337203685477580700e-2'],
    '-9223372036854775808': ['-9223372036854775808', '-0.9223372036854775808E19'],
    '1000000000000000000': ['1e18', '1000000000000000000', '0.1e19'],
  };
  for (const [id, literals] of Object.entries(values)) {
    it(`is ${id} in any notation`, () => {
      for (const literal of literals) expect(idFromJsonNumber(literal), literal).to.equal(id);
    });
  }

  it('is undefined for a fraction, however close to an integer', () => {
    const fractions = [
      '0.5',
      '7.5',
      '1e-1',
      '7e-1',
      '71e-1',
      '0.99999999999999999',
      '1e-400',
      '1e-1000000000',
    ];
    fractions.push('9223372036854775806.5', '1.00000000000000000000000000001', '-1e-' + '9'.repeat(400));
    for (const literal of fractions) expect(idFromJsonNumber(literal), literal).to.be.undefined;
  });

  it('is undefined outside int64', () => {
    const outside = [
      '9223372036854775808',
      '-9223372036854775809',
      '9.223372036854775808e18',
      '1e19',
      '-1e19',
    ];
    outside.push('1e400', '1e1000000000', '-1e1000000000', '1e' + '9'.repeat(400), '0.1e20');
    for (const literal of outside) expect(idFromJsonNumber(literal), literal).to.be.undefined;
  });

  it('is undefined for a text that is not a JSON number', () => {
    for (const text of [
      '',
      '007',
      '-00',
      '-',
      '+7',
      '.5',
      '7.',
      '7e',
      '7e+',
      '7e1.5',
      '0x7',
      ' 7',
      '7\n',
      'NaN',
      'Infinity',
      '"7"',
      '7n',
    ]) {
      expect(idFromJsonNumber(text), JSON.stringify(text)).to.be.undefined;
    }
  });

  it('is the value by exact arithmetic, if that is an int64', () => {
    fc.assert(
      fc.property(fc.oneof(anyLiteral, disguisedInteger), (literal) => {
        expect(idFromJsonNumber(literal)).to.equal(exactInteger(literal));
      }),
      { numRuns: 10 * RUNS, examples: [['0.1e20'], ['-9223372036854775808.0'], ['9223372036854775807.9']] },
    );
  });

  it('takes time linear in the length of a 64 KB literal', () => {
    const many = 65_536;
    const zeros = '0'.repeat(many);
    const literals: [literal: string, id: string | undefined][] = [
      [`0.${zeros}`, '0'],
      [`0.${zeros}1`, undefined],
      [`0.${zeros}1e${many + 1}`, '1'],
      [`1${zeros}`, undefined],
      [`1${zeros}e-${many}`, '1'],
      [`1${zeros}1`, undefined],
      [`7.${zeros}`, '7'],
      [`7.${zeros}1`, undefined],
      [`7e${zeros}`, '7'],
      [`7e-${zeros}1`, undefined],
      [`7e${'9'.repeat(many)}`, undefined],
      [`${'9'.repeat(many)}.${'9'.repeat(many)}`, undefined],
      [`-0.${zeros}x`, undefined],
    ];
    const spent = cpuMilliseconds(() => {
      for (const [literal, id] of literals) expect(idFromJsonNumber(literal)).to.equal(id);
    });
    // Linear is about 10 ms in all; quadratic would be more than a second for one of them.
    expect(spent).to.be.below(500);
  });
});

/** The id that a transport makes of a JSON number. */
function idFromJsonNumber(literal: string): PlantId | undefined {
  const text = canonicalInteger(literal);
  return text === undefined ? undefined : parsePlantId(text);
}

/** Any number that JSON allows, around the size of an int64. */
const anyLiteral = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?$/);

/** An integer around the bounds of int64, with a moved decimal point and the matching exponent (or almost). */
const disguisedInteger = fc
  .record({
    value: fc.oneof(
      fc.bigInt({ min: MIN_INT64 - 20n, max: MIN_INT64 + 20n }),
      fc.bigInt({ min: MAX_INT64 - 20n, max: MAX_INT64 + 20n }),
      fc.bigInt({ min: -1000n, max: 1000n }),
    ),
    zeros: fc.nat(25),
    shift: fc.integer({ min: 1, max: 25 }),
    off: fc.constantFrom(0, 0, 0, 0, 1, -1),
  })
  .map(({ value, zeros, shift, off }) => {
    const sign = value < 0n ? '-' : '';
    const digits =
      value
        .toString()
        .replace('-', '')
        .padStart(shift + 1, '0') + '0'.repeat(zeros);
    const whole = digits.slice(0, -shift).replace(/^0+(?=[0-9])/, '');
    return `${sign}${whole}.${digits.slice(-shift)}e${shift - zeros + off}`;
  });

/** The oracle: the value of `literal`, by BigInt arithmetic. */
function exactInteger(literal: string): string | undefined {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole + fraction);
  const scale = BigInt(exponent) - BigInt(fraction.length);
  const power = 10n ** (scale < 0n ? -scale : scale);
  if (scale < 0n && digits % power !== 0n) return undefined;
  const value = scale < 0n ? digits / power : digits * power;
  return isInt64(value) ? value.toString() : undefined;
}

describe('The text of an id', () => {
  it('does not keep the longer text in memory', () => {
    const ids: unknown[] = [];
    const before = heapAfterGc();
    for (let index = 0; index < 100; index++) {
      const data = `{"id":${10n ** 18n + BigInt(index)},"name":"${String(index).repeat(50_000)}"}`;
      ids.push(parsePlantId(/[0-9]{13,}/.exec(data)![0]));
    }
    expect(heapAfterGc() - before).to.be.below(1_000_000);
    expect(ids[99]).to.equal('1000000000000000099');
  });
});
