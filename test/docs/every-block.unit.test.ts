import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { blocks, placeOf } from './blocks';
import { RUNNERS, runnerOf } from './runners';

describe('Every code block of the pages is run or compiled', () => {
  for (const block of blocks()) {
    it(`${placeOf(block)}: ${block.kind || 'of no kind'}`, () => {
      const runner = runnerOf(block);
      if (runner === undefined) {
        return expect.fail(
          `nothing runs a block of the kind "${block.kind}": test/docs/runners.ts knows how to`,
        );
      }
      if ('check' in runner) runner.check(block);
      // A test that runs the blocks of a kind contains the name of the kind.
      if ('by' in runner) expect(readFileSync(runner.by, 'utf8')).to.contain(runner.saying ?? block.kind);
    });
  }

  it('there is no runner without a block, except for plain text', () => {
    const used = new Set(blocks().map(runnerOf));
    const idle = Object.entries(RUNNERS).filter(([kind, runner]) => kind !== 'text' && !used.has(runner));
    expect(idle.map(([kind]) => kind)).to.deep.equal([]);
  });
});
