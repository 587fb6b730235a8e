/**
 * The package from a user's point of view: packed, installed into another
 * project, imported, compiled against, extended. Needs the registry and a minute:
 * `npm run test:package`.
 */
import { expect } from 'chai';
import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Block, blocks, placeOf } from '../docs/blocks';
import { describeOwnRedis } from '../support/redis';
import { Workshop } from './workshop';

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, { types: string; default: string } | string>;
};
const ENTRY_POINTS = Object.keys(MANIFEST.exports)
  .filter((name) => name !== './package.json')
  .map((name) => name.replace('./', 'plant-store/'));
const WITHOUT_OPTIONAL = [
  'domain',
  'event-sourcing',
  'application',
  'adapters/memory',
  'adapters/system',
].map((entryPoint) => `plant-store/${entryPoint}`);
/** The only entry point whose types need those of Koa. All others need no types of other packages. */
const WITH_KOA = 'plant-store/adapters/http';
/** Each example is a separate project. */
const EXAMPLES = readdirSync('docs/examples');
const DEVELOPMENT = ['@types/mocha@10', 'mocha@11', 'vitest@4'];
const bin = (name: string) => resolve('node_modules/.bin', name);

describe('The package', function () {
  this.timeout(300_000);
  let workshop: Workshop;
  before(async () => {
    workshop = await Workshop.open();
  });
  after(() => workshop.close());

  describe('as it is packed', () => {
    it('offers types and code to require and import alike (attw)', () =>
      workshop.run('.', bin('attw'), workshop.tarball, '--profile', 'node16'));

    it('passes publint', () => workshop.run('.', bin('publint'), 'run', workshop.tarball, '--strict'));

    it('contains the build of each source, the pages and the examples, and nothing else', async () => {
      const files = (await workshop.run('.', 'tar', 'tzf', workshop.tarball))
        .trim()
        .split('\n')
        .map((file) => file.replace('package/', ''));
      const modules = readdirSync('src', { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => file.replace(/\.ts$/, ''));
      const built = modules.flatMap((module) =>
        ['js', 'js.map', 'd.ts'].map((end) => `dist/${module}.${end}`),
      );
      expect(files.filter((file) => file.startsWith('dist/'))).to.have.members(built);
      const others = files.filter((file) => !/^(dist|docs)\//.test(file));
      expect(others).to.have.members(['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']);
      for (const file of files.filter((name) => name.startsWith('docs/'))) {
        expect(existsSync(file), file).to.equal(true);
        expect(file).to.match(/\.(md|svg|ts|json)$/);
      }
    });
  });

  describe('without the optional dependencies', () => {
    before(async () => {
      workshop.project('core');
      await workshop.run('core', 'sh', '-ec', commandsOf('docs/write-a-transport.md'));
    });

    it('is one package', () => {
      expect(
        readdirSync(join(workshop.directory, 'core/node_modules')).filter((name) => !name.startsWith('.')),
      ).to.deep.equal(['plant-store']);
    });

    for (const [how, load] of [
      ['required', (entryPoint: string) => `require('${entryPoint}')`],
      ['imported', (entryPoint: string) => `await import('${entryPoint}')`],
    ] as const) {
      it(`loads only the domain if the domain is ${how}, and no module of Node`, async () => {
        const { modules, builtins } = await loadedBy(load('plant-store/domain'));
        expect(modules).to.include('dist/domain/index.js');
        for (const module of modules) expect(module).to.match(/^dist\/domain\//);
        expect(builtins).to.deep.equal([]);
      });
    }

    for (const entryPoint of WITHOUT_OPTIONAL) {
      it(`${entryPoint} works`, async () => {
        const { modules } = await loadedBy(`await import('${entryPoint}')`);
        for (const module of modules)
          expect(module).to.match(/^dist\/(domain|event-sourcing|application|adapters)\//);
      });
    }

    it('runs the first example of docs/write-a-transport.md', async () => {
      const example = blocks().find(
        ({ page, kind }) => page === 'docs/write-a-transport.md' && kind === 'ts',
      )!;
      workshop.write('core/first.mjs', example.text.replaceAll('!', ''));
      await workshop.run('core', 'node', 'first.mjs');
    });

    it('has a command line with help, which names the missing packages', async () => {
      const typed = (text: string) =>
        workshop.run(
          'core',
          'sh',
          '-c',
          `${text.replace('plant-store', './node_modules/.bin/$&')}; echo "exit $?"`,
        );
      expect(await typed('plant-store list --help')).to.match(/ --user NAME .*\nexit 0\n$/s);
      const lacks =
        "Cannot find module '\\S+': the service needs the packages that npm leaves out on --omit=optional";
      expect(await typed('plant-store serve 2>&1')).to.match(
        new RegExp(`^cannot start: ${lacks}\\.\nexit 1\n$`),
      );
      const list = 'EVENT_STORE=redis REDIS_URL=redis://127.0.0.1:1 plant-store list --user eve 2>&1';
      expect(await typed(list)).to.match(new RegExp(`^plant-store: ${lacks}\\.\nexit 2\n$`));
    });

    it('can be imported only by its entry points', async () => {
      for (const name of ['plant-store', 'plant-store/dist/main.js', 'plant-store/dist/domain/index.js']) {
        const program = `import('${name}').catch(({ code }) => console.log(code))`;
        expect(await workshop.run('core', 'node', '-e', program)).to.equal('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
      }
    });

    /** The modules of the package and of Node that this expression loads. */
    async function loadedBy(expression: string): Promise<{ modules: string[]; builtins: string[] }> {
      const program = `
        import { createRequire } from 'node:module';
        const require = createRequire(import.meta.url);
        await import('./nothing.cjs');
        const before = new Set(process.moduleLoadList);
        ${expression};
        const builtins = process.moduleLoadList.filter((name) => !before.has(name));
        const modules = Object.keys(require.cache).filter((file) => !file.endsWith('nothing.cjs'));
        console.log(JSON.stringify({ modules, builtins }));`;
      workshop.write('core/nothing.cjs', '');
      workshop.write('core/load.mjs', program);
      const loaded = JSON.parse(await workshop.run('core', 'node', 'load.mjs')) as {
        modules: string[];
        builtins: string[];
      };
      const home = join(workshop.directory, 'core/node_modules/plant-store/');
      return { ...loaded, modules: loaded.modules.map((file) => file.replace(home, '')) };
    }
  });

  for (const name of EXAMPLES) {
    it(`compiles and tests docs/examples/${name}, as its README says`, async () => {
      const example = join('docs/examples', name);
      cpSync(example, join(workshop.directory, name), { recursive: true });
      const commands = commandsOf(join(example, 'README.md')).replaceAll('path/to/', '../');
      const report = await workshop.run(name, 'sh', '-ec', commands);
      expect(Number(/^# pass (\d+)$/m.exec(report)?.[1])).to.be.above(5);
      expect(report)
        .to.match(/^# fail 0$/m)
        .and.match(/^# skipped 0$/m);
    });
  }

  describe('in an empty folder, with docs/write-a-domain.md', () => {
    before(() => workshop.folder('domain'));

    it('builds and runs a domain, step by step', async () => {
      let printed = '';
      for (const { kind, text } of blocksOf('docs/write-a-domain.md')) {
        if (kind === 'sh package') printed = await workshop.run('domain', 'sh', '-ec', text);
        else if (kind === 'sh package redis') break;
        else if (kind === 'text output') expect(printed).to.contain(text);
        else if (kind.includes(' file=')) workshop.append(join('domain', basename(kind)), text);
      }
      expect(printed).to.match(/^paid$/m);
    });

    it('ends with the files of docs/examples/orders', () => {
      for (const file of readdirSync('docs/examples/orders').filter((name) =>
        /[.]ts$|^tsconfig/.test(name),
      )) {
        expect(readFileSync(join(workshop.directory, 'domain', file), 'utf8'), file).to.equal(
          readFileSync(join('docs/examples/orders', file), 'utf8'),
        );
      }
    });

    describeOwnRedis('and on Redis', (startRedis) => {
      it('prints the same', async function () {
        this.timeout(60_000);
        const { url } = await startRedis('--appendonly', 'no');
        const page = blocksOf('docs/write-a-domain.md');
        const step = page.findIndex(({ kind }) => kind === 'sh package redis');
        const commands = page[step]!.text.replaceAll('redis://127.0.0.1:6379', url);
        const printed = await workshop.run('domain', 'sh', '-ec', commands);
        expect(printed).to.match(/^# fail 0$/m);
        expect(printed).to.contain(page.slice(step).find(({ kind }) => kind === 'text output')!.text);
        expect(printed).to.contain('{"article":"pen","quantity":3,"price":10}');
      });
    });
  });

  describe('in another project', () => {
    before(async () => {
      workshop.project('project');
      await workshop.run('project', 'sh', '-ec', commandsOf('docs/write-a-store.md'));
      await workshop.run('project', 'npm', 'install', '--save-dev', ...DEVELOPMENT);
    });

    it('exports the same names and values to require and import, at every entry point', async () => {
      const program = `
        const entryPoints = ${JSON.stringify(ENTRY_POINTS)};
        const names = [];
        for (const entryPoint of entryPoints) {
          const required = require(entryPoint);
          const imported = await import(entryPoint);
          for (const name of Object.keys(required)) names.push([entryPoint + ' ' + name, imported[name] === required[name]]);
        }
        console.log(JSON.stringify(names));`;
      workshop.write('project/names.cjs', `(async () => {${program}})()`);
      const names = JSON.parse(await workshop.run('project', 'node', 'names.cjs')) as [string, boolean][];
      expect(names.map(([name]) => name)).to.include.members([
        'plant-store/domain PlantList',
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

    it('has types without those of Koa, except for the HTTP adapter, where the compiler names them as missing', async () => {
      await isTyped(ENTRY_POINTS.filter((entryPoint) => entryPoint !== WITH_KOA));
      const complaint = await isTyped([WITH_KOA]).catch((error: unknown) => String(error));
      expect(complaint).to.contain("Could not find a declaration file for module 'koa'");
    });

    it('has types at every entry point with the packages that docs/write-a-transport.md names', async () => {
      await workshop.run('project', 'sh', '-ec', commandsOf('docs/write-a-transport.md', 'sh package http'));
      await isTyped(ENTRY_POINTS);
    });

    /** For NodeNext and bundlers, as CommonJS and as a module, with every library checked. */
    async function isTyped(entryPoints: readonly string[]): Promise<void> {
      const source = entryPoints
        .map((entryPoint, index) => `import * as entryPoint${index} from '${entryPoint}';`)
        .join('\n');
      const use = `\nexport const all: object[] = [${entryPoints.map((_, index) => `entryPoint${index}`).join(', ')}];\n`;
      workshop.write('project/types/consumer.mts', source + use);
      workshop.write('project/types/consumer.cts', source + use);
      const strict = [
        '--strict',
        '--exactOptionalPropertyTypes',
        '--noEmit',
        '--types',
        'node',
        '--target',
        'es2023',
      ];
      const tsc = (...options: string[]) =>
        workshop.run('project/types', 'npx', 'tsc', ...strict, ...options);
      await tsc('--module', 'nodenext', 'consumer.mts', 'consumer.cts');
      await tsc('--module', 'esnext', '--moduleResolution', 'bundler', 'consumer.mts');
    }

    describe('the pages', () => {
      const programs = blocks().filter(({ kind }) => /^ts(?: mocha| vitest)?$/.test(kind));
      const nameOf = (block: (typeof programs)[number]) =>
        `block-${programs.indexOf(block)}${block.kind === 'ts vitest' ? '.test' : ''}`;

      before(async () => {
        for (const block of programs) workshop.write(`project/pages/${nameOf(block)}.mts`, block.text);
        const compilerOptions = {
          target: 'es2023',
          lib: ['es2023', 'esnext.string'],
          module: 'nodenext',
          strict: true,
          // vitest's own types do not pass this check.
          skipLibCheck: true,
          types: ['node'],
        };
        workshop.write('project/pages/tsconfig.json', JSON.stringify({ compilerOptions }));
      });

      it('compile', () => workshop.run('project/pages', 'npx', 'tsc'));

      for (const block of programs) {
        it(`run: ${placeOf(block)}`, async () => {
          const file = `${nameOf(block)}.mjs`;
          switch (block.kind) {
            case 'ts mocha':
              expect(await workshop.run('project/pages', 'npx', 'mocha', file)).to.match(/\b[23]\d passing/);
              break;
            case 'ts vitest':
              expect(
                await workshop.run('project/pages', 'npx', 'vitest', 'run', '--no-color', file),
              ).to.match(/Tests +[23]\d passed/);
              break;
            default:
              await workshop.run('project/pages', 'node', file);
          }
        });
      }
    });
  });
});

/** The commands of a page. */
function commandsOf(page: string, kind = 'sh package'): string {
  return blocksOf(page)
    .filter((block) => block.kind === kind)
    .map(({ text }) => text)
    .join('');
}

function blocksOf(page: string): Block[] {
  return blocks().filter((block) => block.page === page);
}
