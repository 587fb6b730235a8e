import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FoundTable, SCHEDULES } from './found-table';
import { MUTANTS, mutated } from './mutants';

describe('The mutants', () => {
  it('each replace code that their file has exactly once', () => {
    for (const mutant of MUTANTS) {
      const text = readFileSync(mutant.file, 'utf8');
      expect(mutated(text, mutant), mutant.fault).not.to.equal(text);
    }
  });

  it('each name a test, or the schedules that find it', () => {
    for (const { fault, simulation, test } of MUTANTS)
      expect(simulation ?? test, fault).to.not.equal(undefined);
  });

  it('have a table that names no other faults', () => {
    const faults = new Map(MUTANTS.map((mutant) => [mutant.fault, mutant]));
    for (const { fault, file } of new FoundTable().rows)
      expect(faults.get(fault)?.file, fault).to.equal(file);
  });

  it('are found by random schedules: at least 36 of those in the engine and the Redis adapter', () => {
    const found = new FoundTable().rows.filter(
      ({ file, seed }) => file.startsWith('src/') && seed !== undefined,
    );
    expect(found.length).to.be.at.least(36);
    for (const { schedules, fault } of found) expect(schedules, fault).to.be.at.most(SCHEDULES);
  });

  it('each name a test file that exists', () => {
    for (const { fault, test } of MUTANTS) if (test) expect(existsSync(test.file), fault).to.equal(true);
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
