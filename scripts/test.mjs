// `npm test`: the checks of types and layers, then the tests in parallel runs of mocha, because many mostly wait.
// `npm run test:processes`: the tests that start processes (the service, a command, a Redis to be killed, a browser).
// Other arguments are passed to each run.
import { spawn } from 'node:child_process';

const [processes, passedOn] =
  process.argv[2] === '--processes' ? [true, process.argv.slice(3)] : [false, process.argv.slice(2)];

/** Tests with a script of their own. */
const APART = [
  'test/{package,bench,clients,container,monitoring}/*.{package,bench,clients,container,prometheus}.test.ts',
  // `npm run test:slow`
  'test/{load/*,**/*.load.*}.test.ts',
];
const PROCESSES = ['test/**/*.{fault,browser}.test.ts', 'test/**/*processes.*.test.ts'];
const REDIS = 'test/**/*.redis.test.ts';
const HTTP = 'test/**/*.http.test.ts';

/** The arguments of a run: the tests of `files`, without those of `others`. */
const run = (files, ...others) => [...files, ...others.flatMap((pattern) => ['--ignore', pattern])];
const TESTS = [
  run([REDIS], ...PROCESSES, ...APART),
  run([HTTP], ...PROCESSES, ...APART),
  run(['test/**/*.test.ts'], REDIS, HTTP, ...PROCESSES, ...APART),
];

const CLOSING = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n$/m;

/** The closing line of the run, if it printed one, and its exit code. Prints the rest at the end. */
function mocha(args) {
  return new Promise((resolve) => {
    const child = spawn('node_modules/.bin/mocha', [...args, ...passedOn], {
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

if (!processes) {
  const check = spawn(process.execPath, ['scripts/check.mjs', '--without-style'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const checked = await new Promise((resolve) => check.on('close', resolve));
  if (checked !== 0) process.exit(1);
}

const sum = [0, 0, 0];
const runs = processes ? PROCESSES.map((pattern) => run([pattern], ...APART)) : TESTS;
for (const { closing, code } of await Promise.all(runs.map(mocha))) {
  for (const i of sum.keys()) sum[i] += Number(closing?.[i + 1] ?? 0);
  // A failure other than a test, such as a run that did not finish, adds one failure.
  if (closing === null || (code !== 0 && closing[2] === '0')) sum[1] += 1;
}
const [passed, failed, skipped] = sum;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
