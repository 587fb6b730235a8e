/** What Stryker's test runs load first; see scripts/stryker.mjs. */
import childProcess, { type SpawnOptions } from 'node:child_process';
import fc from 'fast-check';

/** Of a run of mocha that Stryker starts for one mutant. */
const MUTANT = '__STRYKER_ACTIVE_MUTANT__';
const mutant = process.env[MUTANT];

// A mutant is tested with the same values each time, and the first failure is enough: none is made smaller.
fc.configureGlobal({ seed: 42, endOnFailure: true });
// A loop that does not end is cut after a hundred times its usual turns, so the usual ones must be few.
process.env['RUNS'] = '20';

// The processes that a test starts have the mutant, too, although the test chooses their environment.
const { spawn } = childProcess;
childProcess.spawn = ((file: string, args: string[], options: SpawnOptions = {}) =>
  spawn(file, args, {
    ...options,
    env: { ...(options.env ?? process.env), [MUTANT]: mutant },
  })) as typeof spawn;

/** Stryker sets no time limit for a test. Without one, each mutant whose test waits in vain costs a new process. */
const TEST_TIMEOUT_MS = mutant === undefined ? 12_000 : 40_000;

export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    this.currentTest?.timeout(TEST_TIMEOUT_MS);
  },
};
