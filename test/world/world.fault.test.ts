import { expect } from 'chai';
import { pendingIf } from '../support/programs';
import { SCENARIOS } from './scenarios';

/** With others: `npm run world`. */
const SEED = Number(process.env['SEED'] ?? 42);

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (scenario.short === 0) continue;
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
