import { type MochaOptions, type Runner, reporters } from 'mocha';

/**
 * Quiet on success, useful on failure: prints what failed and why, what was
 * left out and why, and one closing line `N passed, N failed[, N skipped]`.
 */
class QuietReporter extends reporters.Base {
  constructor(runner: Runner, options?: MochaOptions) {
    super(runner, options);
    const left = new Map<string, number>();

    runner.on('pending', (test) => {
      const reason = pendingReason(test.parent) ?? `${test.fullTitle()}: no reason given`;
      left.set(reason, (left.get(reason) ?? 0) + 1);
    });
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      if (failures > 0) reporters.Base.list(this.failures);
      for (const [reason, count] of left) console.log(`left out (${count}): ${reason}`);
      console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
    });
  }
}

/** A suite that cannot run on this machine says why in its own `pendingReason`. */
function pendingReason(suite: (Mocha.Suite & { pendingReason?: string }) | undefined): string | undefined {
  return suite && (suite.pendingReason ?? pendingReason(suite.parent));
}

export = QuietReporter;
