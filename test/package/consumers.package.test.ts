/** The compilers, bundlers and runtimes that can use the library. `npm run test:package` */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { commandsOf } from '../docs/blocks';
import { describeOwnRedis } from '../support/redis';
import { type Workshop, workshopOfTheRun } from './workshop';

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object };
const ENTRY_POINTS = Object.keys(MANIFEST.exports)
  .filter((name) => name !== './package.json')
  .map((name) => name.replace(/^[.](?=[/]|$)/, 'plant-store'));
/** The entry points whose code and types need other packages. */
const WITH_PACKAGES = ['plant-store/adapters/http', 'plant-store/adapters/redis'];

/** `LONG=1` adds compilers, and the runtimes, which are large downloads. */
const LONG = process.env['LONG'] === '1';
const COMPILERS = LONG ? ['5.0', '5.2', '5.4', '5.6', '5.8', '5.9', '6', '7'] : ['5.0', '6', '7'];

const RUNTIMES = [
  ['bun', 'bun'],
  ['deno', 'deno', 'run', '--allow-all'],
] as const;

/** Runs the contract of event stores on the memory store, and on Redis if there is a URL. */
const CONTRACT = `
  import { MemoryEventStore } from 'plant-store/adapters/memory';
  import { openRedisEventStore } from 'plant-store/adapters/redis';
  import { plantCodec } from 'plant-store/application';
  import { eventStoreContract } from 'plant-store/testing';
  const url = process.argv[2];
  let cases = 0;
  const inMemory = () => ({ store: new MemoryEventStore(3) });
  const onRedis = async () => {
    const keyPrefix = 'case-' + cases + '-' + process.pid;
    const { store, close } = await openRedisEventStore({ url, keyPrefix, pageSize: 3 });
    return { store, close };
  };
  for (const { name, run } of eventStoreContract(url ? onRedis : inMemory, { pageSize: 3 })) {
    await run();
    cases += 1;
  }
  console.log(cases > 20 ? 'passed' : 'too few cases');
  process.exit();`;

/** The HTTP interface behind Node's server: the runtime's own version of node:http. */
const HTTP = `
  import { createServer } from 'node:http';
  import { createApp } from 'plant-store/adapters/http';
  import { MemoryEventStore } from 'plant-store/adapters/memory';
  import { system } from 'plant-store/adapters/system';
  import { PlantStore, parseUser } from 'plant-store/application';
  const plants = new PlantStore({ ...system(), store: new MemoryEventStore() });
  const server = createServer(createApp({ plants, authenticator: { authenticate: () => parseUser('alice') } }).callback());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = 'http://127.0.0.1:' + server.address().port + '/plants';
  const headers = { Authorization: 'Bearer a-token', 'Content-Type': 'application/json' };
  const created = await fetch(url, { method: 'POST', headers, body: '{"id":9007199254740993,"name":"Fern"}' });
  const deleted = await fetch(url + '/9007199254740993', { method: 'DELETE', headers });
  console.log(created.status, deleted.status);
  process.exit();`;

/** A plant store without Node. */
const IN_BROWSER = `
  import { MemoryEventStore } from 'plant-store/adapters/memory';
  import { PlantStore, parseUser } from 'plant-store/application';
  import { NewPlant } from 'plant-store/domain';
  import { OutcomeUnknown } from 'plant-store/event-sourcing';
  const clock = {
    now: () => performance.now(),
    after: (ms, action) => { const timer = setTimeout(action, ms); return () => clearTimeout(timer); },
  };
  const mintCommit = () => crypto.randomUUID();
  const plants = new PlantStore({ store: new MemoryEventStore(), clock, mintCommit });
  const alice = parseUser('alice');
  plants.create(alice, NewPlant.from({ id: '9007199254740993', name: 'Fern' }).plant)
    .then(() => plants.list(alice, { limit: 10 }))
    .then(({ plants }) => report(plants.map(({ name }) => name).join() + ' ' + new OutcomeUnknown('late').message), report);`;

describe('The library', function () {
  this.timeout(300_000);
  let workshop: Workshop;
  before(async () => {
    workshop = await workshopOfTheRun();
    workshop.project('consumers');
    const compilers = COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`);
    const install = commandsOf('docs/write-a-transport.md', 'sh package');
    await workshop.run('consumers', 'sh', '-ec', install);
    await workshop.run(
      'consumers',
      'npm',
      'install',
      '@types/node@20',
      'esbuild',
      'fast-check',
      ...compilers,
    );
  });

  it('has types without those of other packages, except for HTTP and Redis', () =>
    isTyped(
      '7',
      ENTRY_POINTS.filter((entryPoint) => !WITH_PACKAGES.includes(entryPoint)),
    ));

  it('is bundled for a browser and works there: domain, engine, use cases and memory store (esbuild)', async () => {
    workshop.write('consumers/browser.js', IN_BROWSER);
    const options = ['--bundle', '--platform=browser', '--target=es2023', '--outfile=bundle.js'];
    await workshop.run('consumers', 'npx', 'esbuild', 'browser.js', ...options);
    const bundle = readFileSync(join(workshop.directory, 'consumers/bundle.js'), 'utf8');
    const { performance, crypto, setTimeout, clearTimeout, TextDecoder } = globalThis;
    const reported = new Promise((report) => {
      const browser = { performance, crypto, setTimeout, clearTimeout, TextDecoder, report };
      runInContext(bundle, createContext(browser));
    });
    expect(await reported).to.equal('Fern late');
  });

  describe('with the packages of docs/write-a-transport.md', () => {
    before(async () => {
      for (const kind of ['sh package http', 'sh package redis'])
        await workshop.run('consumers', 'sh', '-ec', commandsOf('docs/write-a-transport.md', kind));
    });

    for (const version of COMPILERS) {
      it(`has types for TypeScript ${version}, with every library checked`, () =>
        isTyped(version, ENTRY_POINTS));
    }

    it('exports the same names and values to require and import', async () => {
      const program = `
        const entryPoints = ${JSON.stringify(ENTRY_POINTS)};
        const names = [];
        for (const entryPoint of entryPoints) {
          const required = require(entryPoint);
          const imported = await import(entryPoint);
          for (const name of Object.keys(required)) names.push([entryPoint + ' ' + name, imported[name] === required[name]]);
        }
        console.log(JSON.stringify(names));`;
      workshop.write('consumers/names.cjs', `(async () => {${program}})()`);
      const names = JSON.parse(await workshop.run('consumers', 'node', 'names.cjs')) as [string, boolean][];
      expect(names.map(([name]) => name)).to.include.members([
        'plant-store/domain PlantList',
        'plant-store/event-sourcing Aggregates',
        'plant-store/application PlantStore',
        'plant-store/adapters/memory MemoryEventStore',
        'plant-store/adapters/redis openRedisEventStore',
        'plant-store/adapters/http createApp',
        'plant-store/adapters/http listen',
        'plant-store/adapters/http serve',
        'plant-store/adapters/system system',
        'plant-store/testing eventStoreContract',
      ]);
      for (const [name, same] of names) expect(same, name).to.equal(true);
    });

    for (const [runtime, ...command] of LONG ? RUNTIMES : []) {
      describe(`on ${runtime}`, () => {
        const run = (...args: string[]) =>
          workshop.run('consumers', 'npx', '--no-install', ...command, ...args);

        before(() => workshop.run('consumers', 'npm', 'install', runtime));

        it('has a memory store that passes the contract', async () => {
          workshop.write('consumers/contract.mjs', CONTRACT);
          expect(await run('contract.mjs')).to.match(/^passed$/m);
        });

        it('serves the HTTP interface', async () => {
          workshop.write('consumers/http.mjs', HTTP);
          expect(await run('http.mjs')).to.match(/^200 204$/m);
        });

        describeOwnRedis('with a Redis', (startRedis) => {
          it('has a Redis store that passes the contract', async () => {
            const { url } = await startRedis('--appendonly', 'no');
            workshop.write('consumers/contract.mjs', CONTRACT);
            expect(await run('contract.mjs', url)).to.match(/^passed$/m);
          });
        });
      });
    }
  });

  /** For NodeNext and bundlers, as CommonJS and as a module, with every library checked. */
  async function isTyped(version: string, entryPoints: readonly string[]): Promise<void> {
    const source = entryPoints
      .map((entryPoint, index) => `import * as entryPoint${index} from '${entryPoint}';`)
      .join('\n');
    const all = entryPoints.map((_, index) => `entryPoint${index}`).join(', ');
    workshop.write('consumers/types/consumer.mts', `${source}\nexport const all: object[] = [${all}];\n`);
    workshop.write('consumers/types/consumer.cts', `${source}\nexport const all: object[] = [${all}];\n`);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--noEmit'];
    const compiler = join(workshop.directory, `consumers/node_modules/typescript-${version}/bin/tsc`);
    const compile = (...options: string[]) =>
      workshop.run(
        'consumers/types',
        'node',
        compiler,
        ...strict,
        '--types',
        'node',
        '--target',
        'es2022',
        ...options,
      );
    await compile('--module', 'nodenext', 'consumer.mts', 'consumer.cts');
    if (LONG || version === '6')
      await compile('--module', 'esnext', '--moduleResolution', 'bundler', 'consumer.mts');
  }
});
