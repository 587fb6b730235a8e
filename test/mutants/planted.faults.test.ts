/** Plants each fault of faults.txt, two at a time, and runs the test that must find it. */
import { execFile } from 'node:child_process';
import { inLanes } from '../support/lanes';
import { FAULTS, type Fault } from './faults';

const WITHIN_MS = 60_000;

/** Resolves with the output of the test if it passed, or did not run: `undefined` if it failed, as it must. */
async function missedBy(fault: Fault): Promise<string | undefined> {
  const command = ['node_modules/.bin/mocha', fault.test, '--fgrep', fault.title, '--no-fail-zero'];
  const args = [...command, '--file', 'test/mutants/plant.ts', '--bail', '--exit'];
  const options = { env: { ...process.env, PLANTED_FAULT: JSON.stringify(fault) }, timeout: WITHIN_MS };
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, options, (_, out, errors) => resolve(out + errors));
  });
  // An error while a file is loaded has no closing line.
  return /^\d+ passed, [1-9]\d* failed/m.test(output) ? undefined : output;
}

describe('A planted fault is found', function () {
  this.timeout(FAULTS.length * WITHIN_MS);
  let outcomes: readonly Promise<string | undefined>[];
  before(() => {
    outcomes = inLanes(FAULTS.map((fault) => () => missedBy(fault)));
  });

  for (const [index, { what, test }] of FAULTS.entries())
    it(what, async () => {
      const missed = await outcomes[index];
      if (missed !== undefined) throw new Error(`${test} does not find it:\n${missed}`);
    });
});
