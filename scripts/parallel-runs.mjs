import { spawn } from 'node:child_process';
import { once } from 'node:events';

const CLOSING = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n$/m;

/**
 * Runs mocha in parallel, once with each list of arguments, and `check`, a script of checks. Prints the sum of the tests at
 * the end, and on a terminal the number of tests meanwhile. Resolves with the exit code: 1 if a test, a run or a check
 * failed, or if no test ran. With `--bail` the first run that fails ends the others.
 */
export async function runInParallel(runs, check = []) {
  const children = [];
  const sum = [0, 0, 0];
  let stopped = false;
  let ran = 0;
  const showProgress = () => process.stderr.isTTY && process.stderr.write(`\r${ran} tests ran \r`);

  const run = async (args) => {
    // One run of several may have no test with the title of `--grep`.
    const command = ['node_modules/.bin/mocha', ...args, '--no-fail-zero'];
    // The reporter writes a byte to the last pipe after each test.
    const child = spawn(process.execPath, command, {
      env: { ...process.env, PROGRESS_FD: '3' },
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stdio[3].on('data', ({ length }) => {
      ran += length;
      showProgress();
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    if (stopped) return;
    process.stdout.write(output.replace(CLOSING, ''));
    const closing = CLOSING.exec(output);
    for (const i of sum.keys()) sum[i] += Number(closing?.[i + 1] ?? 0);
    // A failure other than a test, such as a run that did not finish, adds one failure.
    if (closing === null || (code !== 0 && closing[2] === '0')) sum[1] += 1;
    if (code === 0 || !args.some((arg) => arg === '--bail' || arg === '-b')) return;
    stopped = true;
    for (const other of children) other.kill();
  };
  const checks =
    check.length === 0
      ? [0]
      : once(spawn(process.execPath, check, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close');
  await Promise.all(runs.map(run));
  const [checked] = await checks;
  if (checked !== 0) sum[1] += 1;

  const [passed, failed, skipped] = sum;
  if (stopped && runs.length > 1) console.log('the other runs were ended, because of --bail');
  if (passed + failed + skipped === 0) console.log('no test ran');
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 || passed + skipped === 0 ? 1 : 0;
}
