/** What Stryker's test runs load first; see scripts/stryker.mjs. */
import fc from 'fast-check';

// A mutant is tested with the same values each time, and the first failure is enough: none is made smaller.
fc.configureGlobal({ seed: 42, endOnFailure: true });
// A loop that does not end is cut after a hundred times its usual turns, so the usual ones must be few.
process.env['RUNS'] = '20';

/** Stryker sets no time limit for a test. Without one, each mutant whose test waits in vain costs a new process. */
const TEST_TIMEOUT_MS = 12_000;

export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    this.currentTest?.timeout(TEST_TIMEOUT_MS);
  },
};
