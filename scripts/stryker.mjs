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
  // The others are composition, which the tests start as processes; planted faults change them (test/mutants).
  'src/service': {
    goal: 95,
    files: [
      ...['config/*', 'log-destination', 'own-faults', 'readiness'],
      ...['request-lines', 'request-log', 'store-module'],
    ],
    tests: ['service/!(*.processes).{unit,http}', 'adapters/http/edge/@(health|request-log).http'],
  },
  'src/adapters/redis': {
    goal: 90,
    files: ['commit-id', 'entry', 'faults', 'server-checks', 'stream-key'],
    tests: ['adapters/redis/*.unit'],
  },
};

async function mutate(area, wanted) {
  const { goal, files = ['*'], tests } = AREAS[area];
  const results = await new Stryker({
    mutate: wanted.length > 0 ? wanted : files.map((file) => `${area}/${file}.ts`),
    testRunner: 'mocha',
    plugins: ['@stryker-mutator/mocha-runner'],
    mochaOptions: {
      'no-config': true,
      require: ['ts-node/register', './test/support/hooks.ts', './test/mutants/setup.ts'],
      spec: tests.map((test) => `test/${test}.test.ts`),
    },
    coverageAnalysis: 'perTest',
    // A mutant that only runs while a file is loaded would need a new process, and all tests.
    ignoreStatic: true,
    // ts-node does not check types.
    disableTypeChecks: false,
    concurrency: 2,
    // Above that of a test (test/mutants/setup.ts): after its own time limit Stryker needs a new process.
    timeoutMS: 20_000,
    tempDirName: 'coverage/stryker',
    ignorePatterns: ['bench', 'coverage', 'dist', 'release'],
    reporters: ['clear-text', 'json'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: `coverage/${area.slice('src/'.length).replaceAll('/', '-')}.mutants.json` },
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
