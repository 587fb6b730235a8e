import { type MochaOptions, type Runner, reporters } from 'mocha';

/**
 * Quiet on success, useful on failure: prints each failure and its reason, each
 * skipped suite and its reason, and one last line `N passed, N failed[, N skipped]`.
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
      for (const [reason, count] of left) console.log(`skipped (${count}): ${reason}`);
      console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
    });
  }
}

/** A suite that cannot run on this machine has the reason in its `pendingReason`. */
function pendingReason(suite: (Mocha.Suite & { pendingReason?: string }) | undefined): string | undefined {
  return suite && (suite.pendingReason ?? pendingReason(suite.parent));
}

export = QuietReporter;
