/** What an installation adds to a project, and what works after it. `npm run test:package` */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { commandsOf } from '../docs/blocks';
import { describeOwnRedis } from '../support/redis';
import { until } from '../support/until';
import { type Workshop, workshopOfTheRun } from './workshop';

/** The entry points that need no other package. */
const ALONE = ['domain', 'event-sourcing', 'application', 'adapters/memory', 'adapters/system'];

/** Packages with binaries, and older versions of packages that the library can use. */
const NEIGHBOURS = ['vitest@4', 'tsx@4', 'esbuild', 'eslint@9', 'koa@2', 'ioredis@5', 'fast-check@3'];

interface Manifest {
  readonly name: string;
  readonly scripts?: object;
}

describe('Installing the library', function () {
  this.timeout(300_000);
  let workshop: Workshop;
  before(async () => {
    workshop = await workshopOfTheRun();
  });

  describe('in an empty project', () => {
    before(async () => {
      workshop.project('library');
      await workshop.run('library', 'sh', '-ec', commandsOf('docs/write-a-transport.md', 'sh package'));
    });

    it('adds one package', () => {
      expect(packagesIn('library')).to.deep.equal(['node_modules/plant-store']);
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

    for (const entryPoint of ALONE) {
      it(`makes plant-store/${entryPoint} work`, async () => {
        const { modules } = await loadedBy(`await import('plant-store/${entryPoint}')`);
        for (const module of modules)
          expect(module).to.match(/^dist\/(domain|event-sourcing|application|adapters)\//);
      });
    }

    it('is the application by its own name, required or imported', async () => {
      const program = `import('plant-store').then(({ PlantStore }) =>
        console.log(PlantStore === require('plant-store').PlantStore, PlantStore === require('plant-store/application').PlantStore))`;
      expect(await workshop.run('library', 'node', '-e', program)).to.equal('true true\n');
    });

    it('gives no command, and no entry point that starts anything', async () => {
      expect(readdirSync(join(workshop.directory, 'library/node_modules'))).not.to.include('.bin');
      for (const name of ['plant-store/dist/main.js', 'plant-store/dist/domain/index.js']) {
        const program = `import('${name}').catch(({ code }) => console.log(code))`;
        expect(await workshop.run('library', 'node', '-e', program)).to.equal(
          'ERR_PACKAGE_PATH_NOT_EXPORTED\n',
        );
      }
    });

    describeOwnRedis('and then ioredis', (startRedis) => {
      it('makes the Redis store work', async function () {
        this.timeout(60_000);
        const open = (url: string) => `
          import { openRedisEventStore } from 'plant-store/adapters/redis';
          import { plantCodec } from 'plant-store/application';
          const { store, close } = await openRedisEventStore({ url: '${url}' });
          console.log((await store.read('alice', { version: 0, commit: '' })).status);
          close();`;
        const { url } = await startRedis('--appendonly', 'no');
        workshop.write('library/redis.mjs', open(url));
        const missing = await workshop.run('library', 'node', 'redis.mjs').catch(String);
        expect(missing).to.contain("Cannot find module 'ioredis'");

        const install = commandsOf('docs/write-a-transport.md', 'sh package redis');
        await workshop.run('library', 'sh', '-ec', install);
        expect(await workshop.run('library', 'node', 'redis.mjs')).to.equal('read\n');
      });
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
      workshop.write('library/nothing.cjs', '');
      workshop.write('library/load.mjs', program);
      const loaded = JSON.parse(await workshop.run('library', 'node', 'load.mjs')) as {
        modules: string[];
        builtins: string[];
      };
      const home = join(workshop.directory, 'library/node_modules/plant-store/');
      return { ...loaded, modules: loaded.modules.map((file) => file.replace(home, '')) };
    }
  });

  describe('in a project with other packages', () => {
    let others: readonly string[];
    before(async () => {
      workshop.project('neighbours');
      await workshop.run('neighbours', 'npm', 'install', ...NEIGHBOURS);
      others = packagesIn('neighbours');
      await workshop.run('neighbours', 'npm', 'install', `./${basename(workshop.tarball)}`);
    });

    it('adds one package, and neither removes nor moves another', () => {
      expect(packagesIn('neighbours')).to.have.members([...others, 'node_modules/plant-store']);
    });

    it('leaves the commands of the others working', async () => {
      const command = (...typed: string[]) => workshop.run('neighbours', 'npx', '--no-install', ...typed);
      workshop.write('neighbours/one.ts', 'const one: number = 1;\nconsole.log(one);\n');
      workshop.write(
        'neighbours/one.test.ts',
        "import { PlantList } from 'plant-store/domain';\nimport { expect, it } from 'vitest';\nit('loads', () => expect(PlantList).toBeDefined());\n",
      );
      expect(await command('tsx', 'one.ts')).to.match(/^1$/m);
      expect(await command('esbuild', 'one.ts', '--format=esm')).to.contain('const one = 1;');
      expect(await command('vitest', 'run', '--no-color')).to.match(/Tests +1 passed/);
    });
  });

  /** The folders of the installed packages. */
  function packagesIn(project: string): readonly string[] {
    const lock = readFileSync(join(workshop.directory, project, 'node_modules/.package-lock.json'), 'utf8');
    return Object.keys((JSON.parse(lock) as { packages: object }).packages);
  }
});

describe('Installing the service', function () {
  this.timeout(300_000);
  let workshop: Workshop;
  before(async () => {
    workshop = await workshopOfTheRun();
    mkdirSync(join(workshop.directory, 'service'));
    copyFileSync(
      workshop.serviceTarball,
      join(workshop.directory, 'service', basename(workshop.serviceTarball)),
    );
    const global = commandsOf('docs/command-line.md', 'sh package service');
    // Into a folder of the test instead of the machine's.
    await workshop.run('service', 'sh', '-ec', global.replace('--global', '--global --prefix .'));
  });

  it('runs no script at the installation, and installs no package that has one', () => {
    const installed = join(workshop.directory, 'service/lib/node_modules');
    const manifests = readdirSync(installed, { recursive: true, encoding: 'utf8' })
      .filter((file) =>
        /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(`node_modules/${file}`),
      )
      .map((file) => JSON.parse(readFileSync(join(installed, file), 'utf8')) as Manifest);
    expect(manifests.map(({ name }) => name)).to.include.members(['plant-store-service', 'koa']);
    const scripts = manifests.flatMap(({ name, scripts = {} }) =>
      ['preinstall', 'install', 'postinstall']
        .filter((each) => each in scripts)
        .map((each) => `${name}: ${each}`),
    );
    expect(scripts).to.deep.equal([]);
  });

  it('gives the command plant-store, with its help and version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await workshop.run('service', './bin/plant-store', '--version')).to.contain(version);
    expect(await workshop.run('service', './bin/plant-store', 'list', '--help')).to.contain('--user NAME');
  });

  it('gives a service that serves plants and its documentation, and ends on SIGTERM', async () => {
    const environment = { ...process.env, PORT: '0', LOG_FORMAT: 'json', SHUTDOWN_NOTICE_MS: '0' };
    const command = join(workshop.directory, 'service/bin/plant-store');
    const service = spawn(command, ['serve'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(service, 'close');
    let output = '';
    service.stdout.on('data', (chunk) => (output += String(chunk)));
    try {
      await until(() => output.includes('\n'));
      const { url, developmentToken } = JSON.parse(output.split('\n')[0]!) as Record<string, string>;
      const headers = { Authorization: `Bearer ${developmentToken!}` };
      expect(await (await fetch(`${url!}/plants`, { headers })).json()).to.deep.equal([]);
      expect((await fetch(`${url!}/docs/swagger-ui-bundle.js`)).status).to.equal(200);
    } finally {
      service.kill('SIGTERM');
    }
    expect(await ended).to.deep.equal([0, null]);
  });
});
