/**
 * A rule that matches nothing is never violated. So each layer rule is violated
 * here on purpose, in a small source tree, and must report it.
 */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The files of the source tree and their imports, without a violation. */
const SOUND: Record<string, string[]> = {
  'src/main.ts': ['./service/bootstrap'],
  'src/service/bootstrap.ts': [
    '../adapters/http/server',
    '../adapters/memory/store',
    '../adapters/redis/store',
  ],
  'src/adapters/http/server.ts': ['../../application', '../../domain', 'koa', 'node:http'],
  'src/adapters/memory/store.ts': ['../../event-sourcing'],
  'src/adapters/metrics/counts.ts': ['../../application', 'prom-client'],
  'src/adapters/tracing/spans.ts': ['../../event-sourcing', '@opentelemetry/api'],
  'src/adapters/memory/index.ts': ['./store'],
  'src/adapters/memory/disk.ts': ['node:fs'],
  'src/service/config/index.ts': ['../../application', 'node:v8'],
  'src/testing/index.ts': ['../event-sourcing', '../adapters/memory', 'fast-check', 'node:crypto'],
  'src/adapters/redis/store.ts': ['../../event-sourcing', 'ioredis'],
  'src/application/index.ts': ['./plant-store'],
  'src/application/plant-store.ts': ['../domain', '../event-sourcing'],
  'src/event-sourcing/index.ts': ['./aggregate'],
  'src/event-sourcing/aggregate.ts': [],
  'src/domain/index.ts': ['./plant'],
  'src/domain/plant.ts': [],
  'test/main.test.ts': ['../src/main', 'mocha'],
};

/** Violations, as `[file, imports, rule]`. */
const UNSOUND: [file: string, imports: string, rule: string][] = [
  ['src/domain/package.ts', 'ioredis', 'core-is-pure'],
  ['src/domain/node.ts', 'node:crypto', 'core-is-pure'],
  ['src/domain/outward.ts', '../application', 'core-is-pure'],
  ['src/application/package.ts', 'koa', 'application-knows-only-domain-and-engine'],
  ['src/application/node.ts', 'node:crypto', 'application-knows-only-domain-and-engine'],
  ['src/application/outward.ts', '../adapters/memory/store', 'application-knows-only-domain-and-engine'],
  ['src/adapters/metrics/side-door.ts', '../../domain/plant', 'layers-are-imported-through-their-index'],
  ['src/service/config.ts', '../application/plant-store', 'layers-are-imported-through-their-index'],
  ['src/application/side-door.ts', '../domain/plant', 'layers-are-imported-through-their-index'],
  [
    'src/adapters/http/side-door.ts',
    '../../event-sourcing/aggregate',
    'layers-are-imported-through-their-index',
  ],
  ['src/event-sourcing/package.ts', 'ioredis', 'core-is-pure'],
  ['src/event-sourcing/node.ts', 'node:crypto', 'core-is-pure'],
  ['src/event-sourcing/plants.ts', '../domain', 'core-is-pure'],
  ['src/adapters/redis/plants.ts', '../../domain', 'stores-know-no-plant'],
  ['src/adapters/memory/use-case.ts', '../../application', 'stores-know-no-plant'],
  ['src/adapters/http/neighbour.ts', '../memory/store', 'adapters-are-independent'],
  ['src/adapters/http/upward.ts', '../../service/bootstrap', 'adapters-are-independent'],
  ['src/testing/neighbour.ts', '../adapters/redis/store', 'testing-knows-ports-and-the-reference'],
  ['src/testing/sample.ts', '../domain', 'testing-knows-ports-and-the-reference'],
  ['src/testing/framework.ts', 'mocha', 'testing-knows-ports-and-the-reference'],
  ['src/adapters/memory/exam.ts', '../../testing', 'service-without-testing'],
  ['src/adapters/redis/web.ts', 'koa', 'koa-stays-in-http'],
  ['src/adapters/http/streams.ts', 'ioredis', 'ioredis-stays-in-redis'],
  ['src/adapters/http/counts.ts', 'prom-client', 'prom-client-stays-in-metrics'],
  ['src/adapters/http/spans.ts', '@opentelemetry/api', 'opentelemetry-stays-in-tracing'],
  ['src/service/config/disk.ts', '../../adapters/memory/disk', 'configuration-does-no-io'],
  ['src/service/circle.ts', './circle', 'no-cycles'],
  ['src/service/dead.ts', '', 'no-orphans'],
  ['src/service/laboratory.ts', 'mocha', 'service-without-other-packages'],
  ['src/service/exam.ts', '../../test/main.test', 'service-without-tests'],
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

  it('report nothing in a valid source tree', () => {
    for (const file of Object.keys(SOUND)) expect(broken.get(file) ?? [], file).to.deep.equal([]);
  });

  for (const [file, imports, rule] of UNSOUND) {
    it(`${rule}: ${file} may not ${imports ? `import ${imports}` : 'be unused'}`, () => {
      expect(broken.get(file) ?? []).to.include(rule);
    });
  }

  it('are each violated by a test', () => {
    expect(new Set(UNSOUND.map(([, , rule]) => rule))).to.deep.equal(new Set(rules));
  });
});

function build(house: string): void {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(house, file)), { recursive: true });
    writeFileSync(join(house, file), text);
  };
  const packages = ['koa', 'ioredis', 'prom-client', '@opentelemetry/api', 'fast-check', 'mocha'];
  const devDependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  write('package.json', JSON.stringify({ devDependencies }));
  for (const name of packages) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
  // Type imports only: the rules must report them, too.
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
