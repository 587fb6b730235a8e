/**
 * Plants the faults of faults.txt that mocha's `-f` selects, two at a time, and runs the test that
 * must find each.
 */
import { execFile } from 'node:child_process';
import { parseArgs } from 'node:util';
import { inLanes } from '../support/lanes';
import { FAULTS, type Fault } from './faults';

const SUITE = 'A planted fault is found';
const WITHIN_MS = 60_000;

/** Mocha does not tell a suite which of its tests will run. */
const { fgrep = '' } = parseArgs({
  options: { fgrep: { type: 'string', short: 'f' } },
  strict: false,
}).values;
const selected = FAULTS.filter(({ what }) => `${SUITE} ${what}`.includes(String(fgrep)));

/**
 * Resolves with the output of the test if it passed, or did not run: `undefined` if it failed, as
 * it must.
 */
async function missedBy(fault: Fault): Promise<string | undefined> {
  const command = ['node_modules/.bin/mocha', fault.test, '--fgrep', fault.title, '--no-fail-zero'];
  const args = [...command, '--file', 'test/mutants/plant.ts', '--bail', '--exit'];
  const options = {
    env: { ...process.env, PLANTED_FAULT: JSON.stringify(fault) },
    timeout: WITHIN_MS,
  };
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, options, (_, out, errors) => resolve(out + errors));
  });
  // An error while a file is loaded has no closing line.
  return /^\d+ passed, [1-9]\d* failed/m.test(output) ? undefined : output;
}

describe(SUITE, function () {
  this.timeout(FAULTS.length * WITHIN_MS);
  let outcomes: readonly Promise<string | undefined>[];
  before(() => {
    outcomes = inLanes(selected.map((fault) => () => missedBy(fault)));
  });

  for (const [index, { what, test }] of selected.entries())
    it(what, async () => {
      const missed = await outcomes[index];
      if (missed !== undefined) throw new Error(`${test} does not find it:\n${missed}`);
    });
});
