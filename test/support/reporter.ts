import { writeSync } from 'node:fs';
import { type MochaOptions, type Runner, reporters } from 'mocha';
import { openHandles } from './open-handles';

/** How long the process may go on after the last test, in ms. */
const END_WITHIN_MS = 10_000;
/** Maximum number of open handles in the message. */
const NAMED = 10;

/**
 * Quiet on success, useful on failure: prints each failure and its reason, each
 * skipped suite and its reason, and one last line `N passed, N failed[, N skipped]`.
 * A process that goes on after that is ended as a failure, which names what keeps it running.
 */
class QuietReporter extends reporters.Base {
  constructor(runner: Runner, options?: MochaOptions) {
    super(runner, options);
    const left = new Map<string, number>();

    runner.on('pending', (test) => {
      const reason = pendingReason(test.parent) ?? `${test.fullTitle()}: no reason given`;
      left.set(reason, (left.get(reason) ?? 0) + 1);
    });
    const progress = process.env['PROGRESS_FD'];
    // A byte, for the script that runs several runs in parallel.
    if (progress !== undefined) runner.on('test end', () => writeSync(Number(progress), '.'));
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      if (failures > 0) reporters.Base.list(this.failures);
      for (const [reason, count] of left) console.log(`skipped (${count}): ${reason}`);
      console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
      setTimeout(endRun, END_WITHIN_MS).unref();
    });
  }
}

/** Ends this process as a failure. */
function endRun(): void {
  const handles = openHandles();
  const more = handles.length > NAMED ? [`and ${handles.length - NAMED} more`] : [];
  console.error(
    ['The run did not end after its last test. Still open:', ...handles.slice(0, NAMED), ...more].join(
      '\n  ',
    ),
  );
  // Mocha sets the code to the number of failed tests, in a listener that was added before.
  process.once('exit', () => (process.exitCode ||= 1));
  process.exit();
}

/** A suite that cannot run on this machine has the reason in its `pendingReason`. */
function pendingReason(suite: (Mocha.Suite & { pendingReason?: string }) | undefined): string | undefined {
  return suite && (suite.pendingReason ?? pendingReason(suite.parent));
}

export = QuietReporter;
