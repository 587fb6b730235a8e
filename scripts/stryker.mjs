// `npm run test:stryker`: mutates each area of the source with Stryker, and runs the fast tests of this area. An
// argument is an area or one of its files: `npm run test:stryker -- src/domain src/event-sourcing/loading/replay.ts`.
// Exits with 1 if a score is below its goal. test/mutants/survivors.md judges the mutants that survive.
import { Stryker } from '@stryker-mutator/core';

/** The score to reach, in percent; the files to mutate, all by default; and the tests, without `.test.ts`. */
const AREAS = {
  'src/domain': { goal: 95, tests: ['domain/*.unit'] },
  'src/event-sourcing': {
    goal: 95,
    files: ['**/*'],
    tests: [
      ...['event-sourcing/**/*.unit', 'application/plant-store*.unit', 'world/**/simulat*.unit'],
      'adapters/cli/projection.unit',
    ],
  },
  'src/application': { goal: 90, tests: ['application/*.unit'] },
  'src/adapters/http': {
    goal: 95,
    files: ['**/*'],
    tests: ['adapters/http/**/!(*.load|*.processes).{unit,http}'],
  },
  'src/adapters/auth': { goal: 95, tests: ['adapters/auth/!(processes).{unit,http,disk}'] },
  'src/service': {
    goal: 95,
    files: ['**/!(node-version|run-service|serve|standard-output|start-text|version)'],
    tests: [
      'service/!(*.processes).{unit,http,disk,fault}',
      'adapters/http/@(admin-port|cors|docs).http',
      'adapters/http/edge/@(health|limits|malformed|metrics|request-log|stop).http',
      'adapters/auth/@(authentication.http|users.redis)',
      'adapters/redis/@(snapshots|start-up).redis',
      'adapters/tracing/tracing.http',
    ],
  },
  // What a process does at its start and end. Each mutant needs many new processes, so this takes an hour.
  // Chosen by its name only, not by a file.
  'src/service, in processes': {
    goal: 95,
    folder: 'src/service',
    files: ['node-version', 'run-service', 'serve', 'standard-output', 'start-text', 'version'],
    tests: [
      'service/config.unit',
      'adapters/cli/processes.http',
      'service/*.processes.http',
      'adapters/tracing/flush.processes.http',
    ],
    runner: inProcesses,
  },
  'src/adapters/redis': {
    goal: 90,
    files: ['commit-id', 'entry', 'faults', 'server-checks', 'stream-key'],
    tests: ['adapters/redis/*.unit'],
  },
};

const REQUIRED = ['ts-node/register', './test/support/hooks.ts', './test/mutants/setup.ts'];

/** Within the process of Stryker: for each mutant only the tests that reach it. */
function together(spec) {
  return {
    testRunner: 'mocha',
    plugins: ['@stryker-mutator/mocha-runner'],
    mochaOptions: { 'no-config': true, require: REQUIRED, spec },
    coverageAnalysis: 'perTest',
    // A mutant that only runs while a file is loaded would need a new process, and all tests.
    ignoreStatic: true,
  };
}

/** For each mutant a run of mocha, whose tests start processes with the mutant. */
function inProcesses(spec) {
  const options = [...REQUIRED.map((file) => `--require ${file}`), '--no-config', '--exit', '--bail'];
  return {
    testRunner: 'command',
    commandRunner: {
      command: ['node_modules/.bin/mocha', ...options, ...spec.map((file) => `'${file}'`)].join(' '),
    },
    coverageAnalysis: 'off',
  };
}

async function mutate(area, wanted) {
  const { goal, folder = area, files = ['*'], tests, runner = together } = AREAS[area];
  const results = await new Stryker({
    mutate: wanted.length > 0 ? wanted : files.map((file) => `${folder}/${file}.ts`),
    ...runner(tests.map((test) => `test/${test}.test.ts`)),
    // ts-node does not check types.
    disableTypeChecks: false,
    concurrency: 2,
    // Above that of a test (test/mutants/setup.ts): after its own time limit Stryker needs a new process.
    timeoutMS: 20_000,
    tempDirName: 'coverage/stryker',
    ignorePatterns: ['bench', 'coverage', 'dist', 'release'],
    reporters: ['clear-text', 'json'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: `coverage/${area.slice('src/'.length).replaceAll(/\W+/g, '-')}.mutants.json` },
  }).runMutationTest();

  const count = (...states) => results.filter(({ status }) => states.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const survived = count('Survived', 'NoCoverage');
  const score = (100 * killed) / (killed + survived);
  console.log(`${area}: ${score.toFixed(1)} % (goal ${goal} %), ${survived} survivors`);
  return score >= goal;
}

const wanted = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const area of Object.keys(AREAS)) {
  const files = wanted.filter((path) => path.startsWith(`${area}/`));
  if (wanted.length > 0 && files.length === 0 && !wanted.includes(area)) continue;
  if (await mutate(area, files)) passed += 1;
  else failed += 1;
}
if (passed + failed === 0) throw new Error(`no area of ${wanted.join(' ')}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
