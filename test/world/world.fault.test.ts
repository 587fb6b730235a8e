import { expect } from 'chai';
import { runScenario, unavailable } from './scenario';
import { SCENARIOS } from './scenarios';

/** With other faults: `npm run world`. */
const SEED = Number(process.env['SEED'] ?? 42);

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (scenario.short === 0) continue;
  describe(`The scenario "${name}"`, function (this: Mocha.Suite & { pendingReason?: string }) {
    before(function () {
      const reason = unavailable(scenario);
      if (reason === undefined) return;
      if (process.env.CI) throw new Error(`${reason} (CI is set, so this is a failure)`);
      (this.test!.parent as Mocha.Suite & { pendingReason?: string }).pendingReason = reason;
      this.skip();
    });

    it(`violates no promise in ${scenario.short} of its faults`, async function () {
      this.timeout(600_000);
      const { violations, steps } = await runScenario(scenario, {
        seed: SEED,
        continues: (steps) => steps < scenario.short,
      });
      const faults = steps.map(({ fault }) => fault).join(', ');
      expect(violations, `seed ${SEED}: ${faults}`).to.deep.equal([]);
    });
  });
}
