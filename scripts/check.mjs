// The checks that `npm test` runs before the tests: types, the domain's purity,
// lint, layer rules, format. They run in parallel and print only failures.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

// The longest first.
const checks = [
  ['lint', 'eslint', '.', '--max-warnings=0'],
  ['types', 'tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo'],
  ['the domain compiles alone', 'tsc', '-p', 'src/domain'],
  ['the engine compiles alone', 'tsc', '-p', 'src/event-sourcing'],
  ['layer rules', 'depcruise', 'src', '--config', '--output-type', 'err'],
  ['docs', 'ts-node', 'scripts/docs.ts', '--check'],
  ['format (npm run format fixes it)', 'prettier', '--check', '--cache', '--log-level=warn', '.'],
];

function run([name, command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(`node_modules/.bin/${command}`, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => resolve({ name, ok: code === 0, output }));
  });
}

const waiting = [...checks];
const failed = [];
await Promise.all(
  Array.from({ length: Math.min(availableParallelism(), checks.length) }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { name, ok, output } = await run(next);
      if (!ok) failed.push(name);
      if (!ok) console.error(`${name}:\n${output}`);
    }
  }),
);
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exit(1);
}
