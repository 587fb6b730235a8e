/**
 * How the code blocks of the pages are run or compiled, by their kind, which is
 * the info string of the fence. This is the only list. A page that
 * needs a new kind adds a line here.
 */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { readConfig } from '../../src/service/config';
import type { Block } from './blocks';

export type Runner =
  /** Checks the block at once. */
  | { readonly check: (block: Block) => void }
  /** Another file runs the blocks of this kind. It contains the name of the kind, or this text. */
  | { readonly by: string; readonly saying?: string }
  /** The block is not code. */
  | { readonly notCode: string };

export const RUNNERS: Readonly<Record<string, Runner>> = {
  'console tour': { by: 'test/docs/pages.http.test.ts' },
  'sh start': { by: 'test/docs/shell.processes.http.test.ts' },
  'sh token': { by: 'test/docs/shell.processes.http.test.ts' },
  'sh issuer': { by: 'test/docs/shell.processes.http.test.ts' },
  'sh start redis': { by: 'test/docs/shell.processes.redis.test.ts' },
  'redis operator': {
    by: 'test/adapters/redis/operator-rights.fault.test.ts',
    saying: 'OPERATOR_RULES',
  },
  'redis projection': {
    by: 'test/adapters/redis/operator-rights.fault.test.ts',
    saying: 'PROJECTION_RULES',
  },
  'sh migrate': { by: 'test/adapters/cli/documented.processes.redis.test.ts' },
  'console session': { by: 'test/adapters/cli/documented.processes.redis.test.ts' },
  'console redis': { by: 'test/docs/shell.processes.redis.test.ts' },
  'redis mend': { by: 'test/adapters/redis/unreadable-history.redis.test.ts' },
  'redis repair': { by: 'test/docs/runbooks.processes.redis.test.ts' },
  'redis snapshot': { by: 'test/adapters/redis/snapshots.redis.test.ts' },
  'redis acl': {
    by: 'test/adapters/redis/faults/least-privilege.fault.test.ts',
    saying: 'SERVICE_RULES',
  },
  ...Object.fromEntries(
    [
      ...['backup export', 'restore import', 'erase', 'disk usage', 'disk verify', 'repair restore'],
      'sizing',
    ].map(
      (block) =>
        [`sh ${block}`, { by: 'test/docs/runbooks.processes.redis.test.ts', saying: `'${block}'` }] as const,
    ),
  ),
  ...Object.fromEntries(
    ['backup', 'restore', 'restore switch', 'erase file', 'disk restart', 'failover redis'].map(
      (block) =>
        [
          `sh ${block}`,
          { by: 'test/deploy/redis-tasks.processes.redis.test.ts', saying: `follows('${block}')` },
        ] as const,
    ),
  ),
  ...Object.fromEntries(
    ['upgrade check', 'upgrade instance', 'upgrade convert', 'rollback convert', 'rollback export'].map(
      (block) =>
        [
          `sh ${block}`,
          { by: 'test/docs/upgrade.processes.redis.test.ts', saying: `theBlock('sh ${block}')` },
        ] as const,
    ),
  ),
  ...Object.fromEntries(
    ['repeat', 'lines', 'others', 'metrics', 'redis', 'trace'].map(
      (step) =>
        [
          `sh request ${step}`,
          { by: 'test/docs/request-cause.processes.redis.test.ts', saying: `follow('${step}')` },
        ] as const,
    ),
  ),
  ...Object.fromEntries(
    ['slowest', 'latency', 'export', 'replay'].map(
      (step) =>
        [
          `sh debug ${step}`,
          { by: 'test/docs/debugging.processes.redis.test.ts', saying: `follow('${step}')` },
        ] as const,
    ),
  ),
  'sh debug limit': { by: 'test/docs/debugging.processes.redis.test.ts' },
  'console inspect profile': {
    by: 'test/docs/debugging.processes.redis.test.ts',
    saying: "inspect('profile')",
  },
  'console inspect heap': { by: 'test/docs/debugging.processes.redis.test.ts', saying: "inspect('heap')" },
  'sh upgrade compose': {
    by: 'test/container/compose.container.test.ts',
    saying: "follow('upgrade compose')",
  },
  'redis tasks': { by: 'test/deploy/redis-tasks.processes.redis.test.ts' },
  'sh archive': { by: 'test/adapters/cli/archive.processes.redis.test.ts', saying: "theBlock('sh archive')" },
  'sh restore archives': {
    by: 'test/adapters/cli/archive.processes.redis.test.ts',
    saying: "theBlock('sh restore archives')",
  },
  'sh failover sentinel': { by: 'test/adapters/redis/sentinel.redis.test.ts' },
  'sh container': { by: 'test/container/image.container.test.ts' },
  'sh compose': { by: 'test/container/compose.container.test.ts', saying: "'up', '--detach'" },
  'sh compose backup': { by: 'test/container/compose.container.test.ts', saying: "follow('compose backup'" },
  'sh compose restore': {
    by: 'test/container/compose.container.test.ts',
    saying: "follow('compose restore'",
  },
  'sh operator image': { by: 'test/container/docker.ts', saying: 'deploy/operator.Dockerfile' },
  'sh release push': {
    by: 'test/container/release.container.test.ts',
    saying: "theBlock('sh release push')",
  },
  'sh kubernetes backup': { by: 'test/deploy/kubernetes.processes.redis.test.ts' },
  'sh kubernetes': { by: 'test/deploy/kubernetes.processes.redis.test.ts' },
  'sh release check': {
    by: 'test/container/release.container.test.ts',
    saying: "theBlock('sh release check')",
  },
  'sh package': { by: 'test/package/pages.package.test.ts' },
  'sh package redis': { by: 'test/package/pages.package.test.ts' },
  'sh package http': { by: 'test/package/pages.package.test.ts' },
  'sh package service': { by: 'test/package/install.package.test.ts' },
  'text output': { by: 'test/package/pages.package.test.ts' },
  ...Object.fromEntries(
    ['sh openapi-fetch', 'js openapi-fetch', 'ts openapi-fetch', 'sh hey-api', 'ts hey-api'].map(
      (block) =>
        [block, { by: 'test/package/clients.package.test.ts', saying: `'${block.slice(3)}'` }] as const,
    ),
  ),
  'sh settings': { check: isGoodConfiguration },
  'sh bench': { by: 'test/bench/smoke.bench.test.ts', saying: "describe('npm run bench'" },
  'sh soak': { by: 'test/world/soak/soak.load.redis.test.ts', saying: 'A short soak' },
  'sh ci': { check: isWhatTheCheckRuns },
  ts: { by: 'test/package/pages.package.test.ts', saying: '/^ts(?: mocha| vitest)?$/' },
  'ts mocha': { by: 'test/package/pages.package.test.ts' },
  'ts vitest': { by: 'test/package/pages.package.test.ts' },
  'ts file': { check: standsInItsFile },
  'json file': { check: standsInItsFile },
  json: { check: ({ text }) => void JSON.parse(text) },
  http: { check: isHeader },
  mermaid: { notCode: 'a diagram' },
  text: { notCode: 'output, or a figure' },
};

/** `ts file=src/main.ts` is of the kind `ts file`. */
export function runnerOf({ kind }: Block): Runner | undefined {
  const name = kind.replace(/=\S+$/, '');
  return Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
}

/** The file compiles and runs, and contains the block word for word. */
function standsInItsFile({ kind, text }: Block): void {
  const file = /file=(\S+)$/.exec(kind)?.[1] ?? '';
  expect(readFileSync(file, 'utf8')).to.contain(text);
}

function isGoodConfiguration({ text }: Block): void {
  const environment = Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ) as Record<string, string>;
  expect(readConfig(environment).problems ?? []).to.deep.equal([]);
}

/** `.ci/run` starts with these commands. */
function isWhatTheCheckRuns({ text }: Block): void {
  const script = readFileSync('.ci/run', 'utf8');
  for (const command of text.trim().split(' && ')) {
    expect(script).to.match(
      new RegExp(`^(?:if ! \\{ |run_tests .*|if ! )?(?:bounded )?.*\\d+ ${command}\\b`, 'm'),
    );
  }
}

function isHeader({ text }: Block): void {
  for (const line of text.trim().split('\n')) {
    const [name = '', ...value] = line.split(': ');
    expect(() => new Headers([[name, value.join(': ')]])).to.not.throw();
    expect(value).to.not.be.empty;
  }
}
