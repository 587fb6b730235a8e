/** A store of one's own in the service and the command line: EVENT_STORE names a module. In separate processes. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HttpClient } from '../support/client';
import { compiledCli } from '../support/compiled-cli';
import { ServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { TOKENS } from '../support/watched-service';

const MODULE = resolve('test/fixtures/stores/file-store.mjs');

describe('A module that EVENT_STORE names', function () {
  this.slow(5000);
  const bash = compiledCli();
  const running: ServiceProcess[] = [];
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'plant-store-module-'));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.kill()));
    rmSync(directory, { recursive: true });
  });

  const plants = () => join(directory, 'plants.json');
  const environment = () => ({ EVENT_STORE: MODULE, PLANTS_FILE: plants(), SHUTDOWN_NOTICE_MS: '0' });
  const fault = (text: string) => writeFileSync(`${plants()}.fault`, text);

  async function start(): Promise<ServiceProcess> {
    const service = await ServiceProcess.start(environment());
    running.push(service);
    return service;
  }
  const clientOf = ({ url }: ServiceProcess) => new HttpClient(url, 'alice', TOKENS.alice);

  it('is the store of the service: its events outlive the process, and the start event names it', async () => {
    const first = await start();
    expect(await clientOf(first).create(1, 'Fern')).to.include({ status: 200 });
    expect(first.output)
      .to.contain(`"eventStore":"${MODULE}"`)
      .and.to.contain(`events in the store of ${MODULE}`)
      .and.to.contain(`a store in ${plants()}`);
    await first.kill();
    expect((await clientOf(await start()).list()).names).to.deep.equal(['Fern']);
  });

  it('is the store of the command line', async () => {
    const run = (command: string) => bash(command, environment()).ended;
    const output = async (command: string) => (await run(`${command} 2>${directory}/errors`)).out;
    await run('plant-store create --user alice --id 1 --name Fern');
    expect(await output('plant-store list --user alice')).to.equal('Fern\n');
    expect(await output('plant-store events verify')).to.equal('1 stream, 1 event, 1 plant: no problems.\n');
    expect(await output('plant-store events export')).to.match(
      /"stream":"plants\/alice","version":1,.*"name":"Fern"/,
    );
    const tail = bash('exec plant-store events tail --user alice --from start', environment());
    await until(() => tail.said.out.includes('Fern'));
    // Longer than the interval of its reads.
    await pause(500);
    expect(tail.child.exitCode).to.equal(null);
    tail.child.kill('SIGINT');
    expect(await tail.ended).to.include({ code: 0 });
    expect(await output('plant-store events erase --user alice --yes')).to.equal(
      'Erased 1 event of alice.\n',
    );
    expect(await output('plant-store list --user alice')).to.equal('');
    fault('unavailable');
    expect(await run('plant-store list --user alice')).to.deep.include({ code: 3 });
    expect(await run('plant-store events verify')).to.deep.include({ code: 3 });
  });

  it('is followed by events tail until its reader closes the pipe, without a further event', async () => {
    const create = 'plant-store create --user alice --id 1 --name Fern';
    const tail = 'plant-store events tail --user alice --from start | head -n 1; echo ${PIPESTATUS[0]}';
    const { out } = await bash(`${create}; ${tail}`, environment()).ended;
    expect(out).to.match(/^Fern\n1\t\S+\tPlantCreated\t1\tFern\n141\n$/);
  });

  it('may have no catalogue: only the commands that list streams refuse it', async () => {
    const run = (command: string) => bash(command, { ...environment(), PLANTS_CATALOGUE: 'none' }).ended;
    expect(await run('plant-store create --user alice --id 1 --name Fern')).to.include({ code: 0 });
    const { code, error } = await run('plant-store events export');
    expect(code).to.equal(2);
    expect(error).to.match(
      /^plant-store: the store of EVENT_STORE cannot list its streams: .*catalogue.*\n$/m,
    );
  });

  it('reports its faults by their names, although their classes are not those of the service', async () => {
    const alice = clientOf(await start());
    await alice.create(1, 'Fern');
    fault('unavailable');
    expect(await alice.list()).to.include({ status: 503, error: 50300 });
    expect(await alice.create(2, 'Moss')).to.include({ status: 503, error: 50300 });
    fault('unknown');
    expect(await alice.create(2, 'Moss')).to.include({ status: 503, error: 50301 });
  });

  it('has its bugs answered with 500/50000, and named in the log', async () => {
    const service = await start();
    const alice = clientOf(service);
    await alice.create(1, 'Fern');
    fault('empty pages');
    expect(await alice.list()).to.include({ status: 500, error: 50000 });
    expect(await alice.list()).to.include({ status: 500, error: 50000 });
    rmSync(`${plants()}.fault`);
    expect((await alice.list()).names).to.deep.equal(['Fern']);
    await until(() => service.output.includes('a round failed'));
    const line = service.output.split('\n').find((each) => each.includes('a round failed'));
    expect(line).to.contain(`"eventStore":"${MODULE}"`).and.to.contain('a page with `more`');
  });

  it('that never opens its store fails the process after the time limit', async () => {
    const file = join(directory, 'hangs.cjs');
    writeFileSync(file, 'exports.openEventStore = () => new Promise(() => {});');
    const script = `require('./src/service/store-module').openStoreModule(${JSON.stringify(file)}, {}, 100)`;
    const child = spawnSync(process.execPath, ['-r', 'ts-node/register/transpile-only', '-e', script]);
    expect(child.status).to.equal(1);
    expect(String(child.stderr)).to.contain(`openEventStore of ${file} did not return within 100 ms`);
  });

  it('decides about readiness, and has metrics, those of Redis excepted', async () => {
    const service = await start();
    const get = async (path: string) => {
      const answer = await fetch(service.url + path);
      return { status: answer.status, text: await answer.text() };
    };
    await clientOf(service).create(1, 'Fern');
    fault('read-only');
    expect(await get('/health/ready')).to.deep.equal({
      status: 200,
      text: '{"status":"ready","reads":true,"writes":false,"reasons":["writes_refused"]}',
    });
    const { text } = await get('/metrics');
    expect(text)
      .to.match(/^plant_store_event_store_available\{operation="append"\} 0$/m)
      .and.to.match(
        /^plant_store_event_store_duration_seconds_count\{operation="append",outcome="appended"\} 1$/m,
      )
      .and.not.to.contain('redis');
    fault('unavailable');
    await until(async () => (await get('/health/ready')).status === 503);
  });

  it('is closed before the service ends', async () => {
    const service = await start();
    service.signal('SIGTERM');
    expect(await service.exitCode()).to.equal(0);
    expect(existsSync(`${plants()}.closed`)).to.equal(true);
  });

  it('needs authentication', async () => {
    const { code, error } = await bash('plant-store serve', environment()).ended;
    expect(code).to.equal(2);
    expect(error).to.contain('is required unless EVENT_STORE is memory');
  });

  it('may be a CommonJS module, and its path relative to the working directory', async () => {
    writeFileSync(
      join(directory, 'store.cjs'),
      `module['exports'] = { openEventStore: async (options) => (await import(${JSON.stringify(MODULE)})).openEventStore(options) };`,
    );
    const { code } = await bash(
      'plant-store create --user alice --id 1 --name Fern',
      { ...environment(), EVENT_STORE: './store.cjs' },
      directory,
    ).ended;
    expect(code).to.equal(0);
  });

  it('that cannot be loaded is refused in one line, also by --check-config: exit code 2', async () => {
    writeFileSync(join(directory, 'empty.js'), '');
    for (const [file, problem] of [
      ['none.js', `EVENT_STORE names ${directory}/none.js, and there is no such file`],
      [
        'empty.js',
        `${directory}/empty.js, which EVENT_STORE names, must export a function openEventStore; it exports default`,
      ],
    ] as const) {
      const variables = { ...environment(), EVENT_STORE: `./${file}`, AUTH_TOKENS: `alice:${TOKENS.alice}` };
      const run = (command: string) => bash(command, variables, directory).ended;
      const refused = { code: 2, out: '', error: `The configuration has a problem:\n  ${problem}\n` };
      expect(await run('plant-store serve')).to.deep.equal(refused);
      expect(await run('plant-store serve --check-config')).to.deep.equal(refused);
      const error = `plant-store: ${problem}\n`;
      expect(await run('plant-store list --user alice')).to.deep.equal({ code: 2, out: '', error });
    }
  });

  it('is loaded by --check-config, but its store is not opened', async () => {
    const checked = await bash('plant-store serve --check-config', {
      ...environment(),
      AUTH_TOKENS: `alice:${TOKENS.alice}`,
    }).ended;
    expect(checked).to.deep.equal({ code: 0, out: 'The configuration is valid.\n', error: '' });
    expect(existsSync(plants())).to.equal(false);
  });
});
