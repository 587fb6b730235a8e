import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { MUTANTS, mutated } from './mutants';

describe('The mutants', () => {
  it('each replace code that their file has exactly once', () => {
    for (const mutant of MUTANTS) {
      const text = readFileSync(mutant.file, 'utf8');
      expect(mutated(text, mutant), mutant.fault).not.to.equal(text);
    }
  });

  it('each name a test file that exists', () => {
    for (const { fault, test } of MUTANTS) expect(existsSync(test.file), fault).to.equal(true);
  });

  it('each have a fault of their own', () => {
    expect(new Set(MUTANTS.map(({ fault }) => fault)).size).to.equal(MUTANTS.length);
  });

  it('are refused if the code to replace is missing, or there twice', () => {
    const mutant = { ...MUTANTS[0]!, code: 'a', replacement: 'b' };
    expect(mutated('cac', mutant)).to.equal('cbc');
    for (const text of ['c', 'aca']) expect(() => mutated(text, mutant)).to.throw(mutant.file);
  });
});
