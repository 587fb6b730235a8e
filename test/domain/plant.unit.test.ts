import { expect } from 'chai';
import fc from 'fast-check';
import { NewPlant, type PlantParts, plantBytes } from '../../src/domain';
import { plant, plantId } from '../support/given';
import { RUNS } from './arbitraries';

describe('NewPlant.from', () => {
  it('returns a frozen plant for valid members', () => {
    const made = NewPlant.from({ id: '7', name: 'Fern', tag: '', ...{ owner: 'eve' } }).plant!;
    expect(made.id).to.equal('7');
    expect(made.members).to.deep.equal({ name: 'Fern', tag: '' });
    const plain = NewPlant.from({ id: '7', name: 'Fern', tag: undefined }).plant!;
    expect(Object.keys(plain.members)).to.deep.equal(['name']);
    for (const object of [made, made.members]) expect(object).to.be.frozen;
    expect(Object.getPrototypeOf(made.members)).to.equal(Object.prototype);
  });

  const invalid: Record<string, PlantParts> = {
    'an empty name': { id: '1', name: '' },
    'an ill-formed name': { id: '1', name: '\ud800' },
    'a name that is not a string': { id: '1', name: 7 },
    'an ill-formed tag': { id: '1', name: 'Fern', tag: 'a\udfff' },
    'a tag that is null': { id: '1', name: 'Fern', tag: null },
    'an id that is not canonical': { id: '01', name: 'Fern' },
    'an id beyond int64': { id: '9223372036854775808', name: 'Fern' },
    'an id that is a number': { id: 1, name: 'Fern' },
  };
  for (const [what, parts] of Object.entries(invalid))
    it(`returns the invalid member and its rule for ${what}`, () => {
      const { plant, invalid } = NewPlant.from(parts);
      expect(plant).to.be.undefined;
      expect(what).to.match(new RegExp(`^an? (?:\\S+ )?${invalid!.member}\\b`));
      expect(invalid!.rule).to.match(/^a (?:whole number from|string )/);
    });
});

describe('NewPlant.is', () => {
  it('is true only for the results of NewPlant.from', () => {
    const made = NewPlant.from({ id: '1', name: 'Fern' }).plant!;
    expect(NewPlant.is(made)).to.be.true;
    for (const other of [
      undefined,
      null,
      'Fern',
      {},
      Object.assign({}, made),
      Object.create(NewPlant.prototype),
    ])
      expect(NewPlant.is(other)).to.be.false;
  });
});

describe('The memory of a plant', () => {
  it('is estimated to be at least that of its texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.boolean(), (text, wide) => {
        const name = `x${wide ? '☃' : ''}${text}`;
        const isWide = /[^\0-\xff]/.test(name);
        expect(plantBytes(plantId(1), { name })).to.be.at.least(name.length * (isWide ? 2 : 1));
      }),
      { numRuns: RUNS },
    );
  });

  it('includes the texts of a tag and of a long id, short ones with two bytes per character', () => {
    const bytes = (id: number, tag?: string) => plantBytes(plantId(id), plant('Fern', tag));
    expect(bytes(1, '') - bytes(1)).to.equal(16);
    expect(bytes(1, 'x'.repeat(63)) - bytes(1)).to.equal(16 + 2 * 63);
    expect(bytes(1, 'x'.repeat(64)) - bytes(1)).to.equal(16 + 64);
    // V8 stores an id of up to nine characters as a small integer.
    expect(bytes(123_456_789)).to.equal(bytes(1));
    expect(bytes(1_234_567_890) - bytes(1)).to.equal(16 + 2 * 10);
  });

  it('counts one byte per character of a long Latin-1 text', () => {
    const bytes = (name: string) => plantBytes(plantId(1), { name });
    expect(bytes('x'.repeat(65_536)) - bytes('x'.repeat(1024))).to.equal(65_536 - 1024);
    expect(bytes('☃'.repeat(2000)) - bytes('☃'.repeat(1000))).to.equal(2000);
  });
});
