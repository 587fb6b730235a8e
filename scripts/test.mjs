// `npm test`: the checks of types and layers, and the tests in parallel runs of mocha, because many mostly wait.
// `npm run test:processes`: the tests that start processes (the service, a command, a Redis to be killed, a browser).
// `scripts/on-node.sh`: the unit and HTTP tests, without the simulations.
// Other arguments are passed to each run of mocha. With `--bail`, the first failure ends all runs.
import { createRequire } from 'node:module';
import { runInParallel } from './parallel-runs.mjs';

const require = createRequire(import.meta.url);
require('ts-node/register/transpile-only');
// Ends the run on an older Node.
require('../src/service/node-version.ts');

const chosen = ['--processes', '--unit-and-http'].find((name) => name === process.argv[2]);
const passedOn = process.argv.slice(chosen === undefined ? 2 : 3);

/** Tests with a script of their own. */
const APART = [
  'test/{package,deploy,bench,clients,container,monitoring}/*.{package,bench,clients,container,prometheus}.test.ts',
  // `npm run test:slow`
  'test/{world/load/*,**/*.load.*}.test.ts',
];
const PROCESSES = ['test/**/*.{fault,browser}.test.ts', 'test/**/*processes.*.test.ts'];
const SCENARIOS = 'test/world/*.fault.test.ts';
/** Those with files of the project: its pages, and what it is deployed with. */
const FILES = 'test/{docs,deploy}/**/*.test.ts';
const REDIS = 'test/**/*.redis.test.ts';
/** Those that wait the longest. */
const WAITING = 'test/adapters/redis/{append,st}*.redis.test.ts';
const HTTP = 'test/**/*.http.test.ts';

/** The arguments of a run: the tests of `files`, without those of `others`. */
const run = (files, ...others) => [files, ...others.flatMap((pattern) => ['--ignore', pattern]), ...passedOn];

/** The runs in parallel, and perhaps checks beside them. */
const RUNS = {
  '--processes': [
    [
      run(SCENARIOS),
      run(PROCESSES[0], PROCESSES[1], SCENARIOS, ...APART),
      run('test/{docs,deploy}/**/*processes.*.test.ts', ...APART),
      run(PROCESSES[1], FILES, ...APART),
    ],
  ],
  '--unit-and-http': [
    [HTTP, 'test/**/*.unit.test.ts'].map((files) => run(files, 'test/{package/**,world/**}', ...APART)),
  ],
  '--all': [
    [
      run(WAITING, ...PROCESSES, ...APART),
      run(REDIS, WAITING, ...PROCESSES, ...APART),
      run(HTTP, ...PROCESSES, ...APART),
      run('test/**/*.test.ts', REDIS, HTTP, ...PROCESSES, ...APART),
    ],
    ['scripts/check.mjs', '--without-style'],
  ],
};

process.exitCode = await runInParallel(...RUNS[chosen ?? '--all']);
