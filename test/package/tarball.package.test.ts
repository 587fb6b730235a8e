import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ServiceProcess } from '../support/service-process';

const MANIFEST = JSON.parse(fs.readFileSync('package.json', 'utf8')) as {
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, unknown>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

const TSC = resolve('node_modules/typescript/bin/tsc');
const COMPILER = [TSC, '--strict', '--target', 'es2023', '--outDir', 'out', '--types', 'node'];
/** The options of the compiler for each way to resolve modules. */
const RESOLUTIONS = {
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
};

describe('The tarball of npm pack, installed into an empty project', function () {
  this.timeout(300_000);
  let folder: string;
  const at = (...path: string[]) => join(folder, ...path);
  const run = async (program: string, args: readonly string[], cwd: string) =>
    (await promisify(execFile)(program, args, { cwd, maxBuffer: 2 ** 24 })).stdout;
  const compile = (file: string, options: readonly string[]) =>
    run(process.execPath, [...COMPILER, ...options, file], at('project'));

  before(async () => {
    folder = fs.mkdtempSync(join(tmpdir(), 'plant-store-package-'));
    // Packed in a copy, because packing compiles again what other runs use.
    const sources = [
      'src',
      'scripts',
      'package.json',
      'tsconfig.json',
      'tsconfig.build.json',
      '.npmrc',
    ];
    for (const name of new Set([...sources, ...MANIFEST.files, 'README.md', 'LICENSE']))
      if (name !== 'dist') fs.cpSync(name, at('copy', name), { recursive: true });
    fs.symlinkSync(resolve('node_modules'), at('copy/node_modules'));
    await run('npm', ['pack', '--pack-destination', folder], at('copy'));
    const [tarball] = fs.readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    fs.mkdirSync(at('project'));
    fs.writeFileSync(at('project/package.json'), '{ "private": true, "type": "module" }');
    await install(at(tarball!), withVersion('@types/node'));
  });

  const withVersion = (name: string) => `${name}@${MANIFEST.devDependencies[name]}`;
  const install = (...packages: string[]) =>
    run(
      'npm',
      ['install', '--prefer-offline', '--no-audit', '--ignore-scripts', ...packages],
      at('project'),
    );

  const ENTRIES = Object.keys(MANIFEST.exports).filter((entry) => entry !== './package.json');
  const PEERS = { './adapters/http': '@types/koa', './testing': 'fast-check' } as const;
  /**
   * Compiles and runs imports of these entry points. The compiler checks the types of all packages.
   */
  async function importAll(file: string, entries: readonly string[]): Promise<void> {
    const lines = entries.map(
      (entry, index) => `import * as e${index} from 'plant-store${entry.slice(1)}';`,
    );
    const counts = entries.map((_, index) => `Object.keys(e${index}).length > 0`);
    lines.push(`console.log(${counts.join(' && ')});`);
    fs.writeFileSync(at('project', `${file}.ts`), lines.join('\n'));
    await compile(`${file}.ts`, RESOLUTIONS.nodenext);
    expect(await run(process.execPath, [`out/${file}.js`], at('project'))).to.equal('true\n');
  }

  it('contains types and code for each entry point, and needs only packages that docs/library.md names', async () => {
    expect(Object.values(PEERS)).to.have.members(Object.keys(MANIFEST.peerDependencies));
    await importAll(
      'alone',
      ENTRIES.filter((entry) => !(entry in PEERS)),
    );
    const page = fs.readFileSync('docs/library.md', 'utf8');
    for (const [entry, peer] of Object.entries(PEERS))
      expect(page).to.match(new RegExp(`\\| .*${entry.slice(1)}.*needs \`${peer}\``));
    await install(...Object.values(PEERS).map(withVersion));
    await importAll('all', ENTRIES);
  });
  after(() => fs.rmSync(folder, { recursive: true }));

  for (const [name, options] of Object.entries(RESOLUTIONS))
    it(`compiles and runs the code of README with the module resolution of ${name}`, async () => {
      const [, lines] = /```ts\n([^]*?)```/.exec(fs.readFileSync('README.md', 'utf8'))!;
      fs.writeFileSync(at('project', `${name}.ts`), lines!);
      await compile(`${name}.ts`, options);
      const out = await run(process.execPath, [`out/${name}.js`], at('project'));
      expect(out).to.equal("[ { name: 'Fern' } ]\n");
    });

  it('starts the service as `npx plant-store serve`', async () => {
    const command = [at('project/node_modules/.bin/plant-store'), 'serve'];
    const service = await ServiceProcess.spawn({}, { command }).listens();
    expect((await fetch(`${service.url}/docs`)).status).to.equal(200);
    service.signal('SIGTERM');
    expect(await service.exitCode()).to.equal(0);
  });
});
