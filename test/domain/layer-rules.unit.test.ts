/**
 * A rule that matches nothing is never broken. So each layer rule is broken
 * here on purpose, in a small house of its own, and has to notice.
 */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** What stands in the house, and what it imports: all as it should be. */
const SOUND: Record<string, string[]> = {
  'src/main.ts': ['./bootstrap'],
  'src/bootstrap.ts': ['./adapters/http/server', './adapters/memory/store', './adapters/redis/store'],
  'src/adapters/http/server.ts': ['../../application', '../../domain', 'koa', 'node:http'],
  'src/adapters/memory/store.ts': ['../../application'],
  'src/adapters/metrics/counts.ts': ['../../application', 'prom-client'],
  'src/adapters/memory/index.ts': ['./store'],
  'src/testing/index.ts': ['../application', '../domain', '../adapters/memory', 'fast-check', 'node:crypto'],
  'src/adapters/redis/store.ts': ['../../application', 'ioredis'],
  'src/application/index.ts': ['./rounds'],
  'src/application/rounds.ts': ['../domain'],
  'src/domain/index.ts': ['./plant'],
  'src/domain/plant.ts': [],
  'test/main.test.ts': ['../src/main', 'mocha'],
};

/** Each as `[who, imports what, against which rule]`. */
const UNSOUND: [file: string, imports: string, rule: string][] = [
  ['src/domain/package.ts', 'ioredis', 'domain-is-pure'],
  ['src/domain/node.ts', 'node:crypto', 'domain-is-pure'],
  ['src/domain/outward.ts', '../application', 'domain-is-pure'],
  ['src/application/package.ts', 'koa', 'application-knows-only-the-domain'],
  ['src/application/node.ts', 'node:crypto', 'application-knows-only-the-domain'],
  ['src/application/outward.ts', '../adapters/memory/store', 'application-knows-only-the-domain'],
  ['src/adapters/memory/side-door.ts', '../../domain/plant', 'layers-meet-at-their-face'],
  ['src/config.ts', './application/rounds', 'layers-meet-at-their-face'],
  ['src/application/side-door.ts', '../domain/plant', 'application-sees-the-domain-by-its-face'],
  ['src/adapters/http/neighbour.ts', '../memory/store', 'adapters-are-strangers'],
  ['src/adapters/http/upward.ts', '../../bootstrap', 'adapters-are-strangers'],
  ['src/testing/neighbour.ts', '../adapters/redis/store', 'testing-knows-ports-and-the-reference'],
  ['src/testing/framework.ts', 'mocha', 'testing-knows-ports-and-the-reference'],
  ['src/adapters/memory/exam.ts', '../../testing', 'service-without-testing'],
  ['src/adapters/redis/web.ts', 'koa', 'koa-stays-in-http'],
  ['src/adapters/http/streams.ts', 'ioredis', 'ioredis-stays-in-redis'],
  ['src/adapters/http/counts.ts', 'prom-client', 'prom-client-stays-in-metrics'],
  ['src/circle.ts', './circle', 'no-circles'],
  ['src/dead.ts', '', 'no-orphans'],
  ['src/laboratory.ts', 'mocha', 'service-without-dev-packages'],
  ['src/exam.ts', '../test/main.test', 'service-without-tests'],
];

describe('The layer rules', () => {
  let house: string;
  let rules: readonly string[];
  let broken: ReadonlyMap<string, readonly string[]>;

  before(async () => {
    house = realpathSync(mkdtempSync(join(tmpdir(), 'layer-rules-')));
    build(house);
    ({ rules, broken } = await inspect(house));
  });
  after(() => rmSync(house, { recursive: true }));

  it('let a sound house stand', () => {
    for (const file of Object.keys(SOUND)) expect(broken.get(file) ?? [], file).to.deep.equal([]);
  });

  for (const [file, imports, rule] of UNSOUND) {
    it(`${rule}: ${file} may not ${imports ? `import ${imports}` : 'lie about unused'}`, () => {
      expect(broken.get(file) ?? []).to.include(rule);
    });
  }

  it('are each put to the test', () => {
    expect(new Set(UNSOUND.map(([, , rule]) => rule))).to.deep.equal(new Set(rules));
  });
});

function build(house: string): void {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(house, file)), { recursive: true });
    writeFileSync(join(house, file), text);
  };
  const packages = {
    optionalDependencies: { koa: '1.0.0', ioredis: '1.0.0', 'prom-client': '1.0.0' },
    peerDependencies: { 'fast-check': '1.0.0' },
    devDependencies: { mocha: '1.0.0', 'fast-check': '1.0.0' },
  };
  write('package.json', JSON.stringify(packages));
  for (const name of ['koa', 'ioredis', 'prom-client', 'fast-check', 'mocha']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
  // Types only: the weakest kind of import has to be noticed too.
  const source = (imports: string[]) => imports.map((name) => `import type {} from '${name}';\n`).join('');
  for (const [file, imports] of Object.entries(SOUND)) write(file, source(imports));
  for (const [file, imports] of UNSOUND) write(file, source(imports ? [imports] : []));
}

/** The project's rules, and which files of `house` break which. */
async function inspect(house: string) {
  const { cruise } = await import('dependency-cruiser');
  const { default: extractConfig } = await import('dependency-cruiser/config-utl/extract-depcruise-config');
  const config = await extractConfig(resolve(__dirname, '../../.dependency-cruiser.cjs'));
  const { forbidden = [], options = {} } = config;

  const { output } = await cruise(
    ['src', 'test'],
    { ...options, ruleSet: { forbidden }, validate: true, baseDir: house },
    options.enhancedResolveOptions,
  );
  if (typeof output === 'string') throw new TypeError(output);
  const broken = new Map<string, string[]>();
  for (const { from, rule } of output.summary.violations) {
    broken.set(from, [...(broken.get(from) ?? []), rule.name]);
  }
  return { rules: forbidden.map(({ name }) => name ?? ''), broken };
}
