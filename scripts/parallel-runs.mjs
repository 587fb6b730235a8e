import { spawn } from 'node:child_process';

const CLOSING = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n$/m;

/**
 * Runs mocha in parallel, once with each list of arguments, and prints the sum of the tests at the end. Resolves with the
 * exit code: 1 if a test or a run failed, or if no test ran. With `--bail` the first run that fails ends the others.
 */
export async function runInParallel(runs) {
  const children = [];
  const sum = [0, 0, 0];
  let stopped = false;

  const run = async (args) => {
    // One run of several may have no test with the title of `--grep`.
    const child = spawn('node_modules/.bin/mocha', [...args, '--no-fail-zero'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
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
  await Promise.all(runs.map(run));

  const [passed, failed, skipped] = sum;
  if (stopped && runs.length > 1) console.log('the other runs were ended, because of --bail');
  if (passed + failed + skipped === 0) console.log('no test ran');
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 || passed + skipped === 0 ? 1 : 0;
}
