import { expect } from 'chai';
import { SCENARIOS } from './scenarios';

/** With others: `npm run world`. */
const SEED = Number(process.env['SEED'] ?? 42);

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (scenario.short === 0) continue;
  describe(`The scenario "${name}"`, function (this: Mocha.Suite & { pendingReason?: string }) {
    before(function () {
      const reason = scenario.unavailable();
      if (reason === undefined) return;
      if (process.env.CI) throw new Error(`${reason} (CI is set, so this is a failure)`);
      (this.test!.parent as Mocha.Suite & { pendingReason?: string }).pendingReason = reason;
      this.skip();
    });

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
