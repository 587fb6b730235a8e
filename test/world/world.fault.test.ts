import { expect } from 'chai';
import { inPart } from '../support/part';
import { pendingIf } from '../support/programs';
import { SCENARIOS } from './scenarios';

/** With others: `npm run world`. */
const SEED = Number(process.env['SEED'] ?? 42);

const isIncluded = inPart(process.env['PART'] ?? '1/1');

const scenarios = Object.entries(SCENARIOS).filter(([, { short }]) => short > 0);
for (const [name, scenario] of scenarios.filter((_, index) => isIncluded(index))) {
  describe(`The scenario "${name}"`, () => {
    pendingIf(() => scenario.unavailable());

    it(`violates no promise in ${scenario.short} of its steps`, async function () {
      this.timeout(600_000);
      const lines: string[] = [];
      const { violations } = await scenario.run({
        seed: SEED,
        continues: (steps) => steps < scenario.short,
        progress: (line) => void lines.push(line),
      });
      expect(violations, `seed ${SEED}: ${lines.join('\n')}`).to.deep.equal([]);
    });
  });
}
