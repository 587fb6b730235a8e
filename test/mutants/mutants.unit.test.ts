import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { MUTANTS, SCHEDULES, mutated } from './mutants';

describe('The mutants', () => {
  it('each have lines to replace, and what finds them', () => {
    for (const mutant of MUTANTS) {
      const { fault, file, simulation, seed, test } = mutant;
      const text = readFileSync(file, 'utf8');
      expect(mutated(text, mutant), fault).not.to.equal(text);
      expect(simulation ?? test, fault).to.not.equal(undefined);
      if (test) expect(existsSync(test.file), test.file).to.equal(true);
      if (simulation) expect(seed, fault).to.be.within(1, SCHEDULES);
    }
  });

  it('are found by random schedules: at least 36 of those in the engine and the Redis adapter', () => {
    const found = MUTANTS.filter(({ file, simulation }) => file.startsWith('src/') && simulation);
    expect(found.length).to.be.at.least(36);
  });

  it('each have a fault of their own', () => {
    expect(new Set(MUTANTS.map(({ fault }) => fault)).size).to.equal(MUTANTS.length);
  });

  it('that survive and were judged are in files that exist', () => {
    const [, judged] = readFileSync('test/mutants/survivors.md', 'utf8').split('## Judged');
    const files = [...judged!.matchAll(/^\| ((?:`[\w/-]+\.ts`(?:, )?)+) \|/gm)].flatMap(([, cell]) =>
      cell!.replaceAll('`', '').split(', '),
    );
    expect(files).to.have.length.above(50);
    const isThere = (file: string) => ['src', 'src/adapters'].some((at) => existsSync(`${at}/${file}`));
    expect(files.filter((file) => !isThere(file))).to.deep.equal([]);
  });

  it('are refused if the lines to replace are missing, or there twice', () => {
    const mutant = { fault: 'a', file: 'the file', before: ['a'], after: ['b'] };
    expect(mutated('c\n a\nc', mutant)).to.equal('c\nb\nc');
    for (const text of ['c', 'a\nc\na']) expect(() => mutated(text, mutant)).to.throw(mutant.file);
  });
});
