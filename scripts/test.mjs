// `npm test`: first the checks of check.mjs, then all tests in two parallel runs
// of mocha, because most tests mostly wait. One run has the suites
// that need a Redis or a browser, the other has all others. Arguments after
// `npm test --` are passed to both.
import { spawn } from 'node:child_process';

const APART = [
  '--ignore',
  'test/{package,bench,clients,container,monitoring}/*.{package,bench,clients,container,prometheus}.test.ts',
  // `npm run test:slow`
  '--ignore',
  'test/{load/*,**/*.load.*}.test.ts',
];
const WAITING = 'test/**/*.{redis,fault,browser}.test.ts';
const runs = [[WAITING], ['test/**/*.test.ts', '--ignore', WAITING]];
const CLOSING = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n$/m;

/** The closing line of the run, if it printed one, and its exit code. Prints the rest at the end. */
function mocha(args) {
  return new Promise((resolve) => {
    const child = spawn('node_modules/.bin/mocha', [...args, ...APART, ...process.argv.slice(2)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => {
      process.stdout.write(output.replace(CLOSING, ''));
      resolve({ closing: CLOSING.exec(output), code });
    });
  });
}

const check = spawn(process.execPath, ['scripts/check.mjs'], { stdio: 'inherit' });
const checked = await new Promise((resolve) => check.on('close', resolve));
if (checked !== 0) process.exit(1);

const sum = [0, 0, 0];
for (const { closing, code } of await Promise.all(runs.map(mocha))) {
  for (const i of sum.keys()) sum[i] += Number(closing?.[i + 1] ?? 0);
  // A failure other than a test, such as a run that did not finish, adds one failure.
  if (closing === null || (code !== 0 && closing[2] === '0')) sum[1] += 1;
}
const [passed, failed, skipped] = sum;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
