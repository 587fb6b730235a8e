/**
 * How the code blocks of the pages are held to what they show, by their kind:
 * what stands behind the fence. This is the one place that knows. A page that
 * needs a kind of its own adds a line here.
 */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { readConfig } from '../../src/config';
import type { Block } from './blocks';

export type Runner =
  /** It can be judged at once. */
  | { readonly check: (block: Block) => void }
  /** Another file takes the blocks of this kind from the pages and runs them. It names the kind, or else says this. */
  | { readonly by: string; readonly saying?: string }
  /** It is no code. */
  | { readonly notCode: string };

export const RUNNERS: Readonly<Record<string, Runner>> = {
  'console tour': { by: 'test/docs.http.test.ts' },
  'sh start': { by: 'test/docs/shell.http.test.ts' },
  'sh token': { by: 'test/docs/shell.http.test.ts' },
  'sh issuer': { by: 'test/docs/shell.http.test.ts' },
  'sh start redis': { by: 'test/docs/shell.redis.test.ts' },
  'redis operator': {
    by: 'test/adapters/redis/operator-rights.fault.test.ts',
    saying: "rules('docs/command-line.md')",
  },
  'sh migrate': { by: 'test/adapters/cli/documented.redis.test.ts' },
  'console session': { by: 'test/adapters/cli/documented.redis.test.ts' },
  'console redis': { by: 'test/docs/shell.redis.test.ts' },
  'redis mend': { by: 'test/adapters/redis/unreadable-history.redis.test.ts' },
  'redis acl': {
    by: 'test/adapters/redis/faults/least-privilege.fault.test.ts',
    saying: "readFileSync('docs/operations.md'",
  },
  ...Object.fromEntries(
    ['backup aof', 'restore aof', 'backup rdb', 'restore rdb', 'backup export', 'restore import'].map(
      (block) => [`sh ${block}`, { by: 'test/docs/backup.redis.test.ts', saying: `'${block}'` }] as const,
    ),
  ),
  'sh container': { by: 'test/container/image.container.test.ts' },
  'sh compose': { by: 'test/container/compose.container.test.ts', saying: "'up', '--detach'" },
  'sh package': { by: 'test/package/package.package.test.ts' },
  'sh settings': { check: isGoodConfiguration },
  'sh bench': { by: 'test/bench/smoke.bench.test.ts', saying: "describe('npm run bench'" },
  'sh ci': { check: isWhatTheCheckRuns },
  ts: { by: 'test/package/package.package.test.ts', saying: '/^ts(?: mocha| vitest)?$/' },
  'ts mocha': { by: 'test/package/package.package.test.ts' },
  'ts vitest': { by: 'test/package/package.package.test.ts' },
  'ts file': { check: standsInItsFile },
  json: { check: ({ text }) => void JSON.parse(text) },
  http: { check: isHeader },
  mermaid: { notCode: 'a picture; those of the layers are drawn by npm run docs' },
  text: { notCode: 'output, or a figure' },
};

/** `ts file=src/main.ts` is of the kind `ts file`. */
export function runnerOf({ kind }: Block): Runner | undefined {
  const name = kind.replace(/=\S+$/, '');
  return Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
}

/** The file compiles and runs; what the page shows of it is in there, word for word. */
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

/** `.ci/run` begins with just these. */
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
