import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { exchange } from '../support/client';
import { compiled } from '../support/compiled';
import { ServiceProcess } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

const run = promisify(execFile);

describe('The service, started', () => {
  const running: ServiceProcess[] = [];
  const start = (environment: Readonly<Record<string, string>> = {}, ...args: string[]) => {
    const started = ServiceProcess.spawn(environment, { args });
    running.push(started);
    return started;
  };
  afterEach(() => Promise.all(running.splice(0).map((service) => service.kill())));

  it('prints its address, a token, and curl commands that work when pasted', async () => {
    const service = start({ LOG_FORMAT: 'pretty' });
    await service.listens();
    const curls = service.output.match(/^ +curl .*$/gm)!;
    const answers = [];
    for (const curl of curls) answers.push((await run('sh', ['-c', curl])).stdout);
    expect(answers).to.deep.equal(['{"name":"Fern","tag":"indoor"}', '[{"name":"Fern","tag":"indoor"}]']);
  });

  it('logs a curl command that works when pasted if its output is JSON', async () => {
    const service = start({ LOG_FORMAT: 'json' });
    await service.listens();
    const [, curl] = /"try":"([^"]+)"/.exec(service.output)!;
    expect((await run('sh', ['-c', curl!])).stdout).to.equal('[]');
  });

  it('mints a new development token at each start', async () => {
    const tokens = await Promise.all(
      [start(), start()].map(async (service) => (await service.listens()).developmentToken),
    );
    expect(tokens[0]).to.match(/^[\w-]{32,}$/);
    expect(tokens[0]).not.to.equal(tokens[1]);
  });

  for (const signals of [['SIGTERM'], ['SIGINT'], ['SIGINT', 'SIGINT']] as const) {
    it(`ends with exit code 0 on ${signals.join(' and at once ')}`, async () => {
      const service = start({ SHUTDOWN_NOTICE_MS: '0' });
      const { url } = await service.listens();
      await exchange(url, { path: '/' });
      for (const signal of signals) service.signal(signal);
      expect(await service.exitCode()).to.equal(0);
    });
  }

  it('starts and ends under npm, from source, and leaves no process', async () => {
    const npm = ServiceProcess.spawn({ SHUTDOWN_NOTICE_MS: '0' }, { command: ['npm', 'start'] });
    const { url } = await npm.listens();
    npm.signal('SIGTERM');
    expect(await npm.exitCode()).to.equal(0);
    const refused = await fetch(url).then(
      () => false,
      () => true,
    );
    expect(refused).to.equal(true);
  });

  for (const variable of ['PORT', 'ADMIN_PORT']) {
    it(`reports ${variable} in use in one line, with exit code 1`, async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const service = start({ ADMIN_PORT: '0', [variable]: String(port) });
      expect(await service.exitCode()).to.equal(1);
      expect(service.output).to.equal(
        `cannot listen on 127.0.0.1:${port}: another process does. Stop it, or set ${variable} (0 picks a free one).\n`,
      );
      other.close();
    });
  }

  it('reports all problems of the configuration without a stack, with exit code 2', async () => {
    const service = start({ PORT: 'x', AUTH_TOKEN: 'alice:s3cret' });
    expect(await service.exitCode()).to.equal(2);
    expect(service.output).to.contain('2 problems').and.to.contain('PORT').and.to.contain('AUTH_TOKEN');
    expect(service.output).not.to.match(/s3cret|\n +at /);
  });

  it('checks the configuration on --check-config and starts nothing', async () => {
    const [good, bad] = [start({}, '--check-config'), start({ PORT: 'x' }, '--check-config')];
    expect([await good.exitCode(), await bad.exitCode()]).to.deep.equal([0, 2]);
    expect(good.output).to.equal('The configuration is valid.\n');
  });

  it('prints the configuration on --print-config, masked, and starts nothing', async () => {
    const printed = start({ AUTH_TOKENS: 'alice:s3cret' }, '--print-config');
    expect(await printed.exitCode()).to.equal(0);
    expect(printed.output)
      .to.match(/^PORT +0 +environment$/m)
      .and.to.match(/^AUTH_TOKENS +alice:\*{3} +environment$/m);
    expect(printed.output).not.to.contain('s3cret');
  });

  it('logs JSON if standard output is not a terminal, and text if configured', async () => {
    for (const [format, shape] of [
      ['', /^\{"level":30,.*"route":"\/".*\}$/m],
      ['pretty', /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request \{.*"route":"\/".*\}$/m],
    ] as const) {
      const service = start({ LOG_LEVEL: 'info', LOG_FORMAT: format, SHUTDOWN_NOTICE_MS: '0' });
      const { url } = await service.listens();
      await fetch(url);
      service.signal('SIGTERM');
      expect(await service.exitCode()).to.equal(0);
      expect(service.output).to.match(shape);
    }
  });

  it('prints nothing but JSON: events of start, signal and end, at every level, each with service and version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    for (const LOG_LEVEL of ['trace', 'error']) {
      const service = start({ LOG_LEVEL, AUTH_TOKENS: 'mallory:s3cret', SHUTDOWN_NOTICE_MS: '0' });
      const { url } = await service.listens();
      await fetch(url);
      service.signal('SIGTERM');
      expect(await service.exitCode()).to.equal(0);
      const { events } = service;
      expect(events.map(({ msg }) => msg)).to.deep.equal([
        `plant-store listens on ${url} (events in memory, lost at exit)`,
        ...(LOG_LEVEL === 'trace' ? ['request'] : []),
        'draining',
        'ended',
      ]);
      for (const each of events) expect(each['service']).to.deep.equal({ name: 'plant-store', version });
      expect(events[0]).to.include({ url, eventStore: 'memory', node: process.version });
      expect(events[0]!['configuration']).to.include({ PORT: '0', LOG_LEVEL, AUTH_TOKENS: '***' });
      expect(events.at(-2)).to.include({ signal: 'SIGTERM' });
      expect(events.at(-1)).to.include({ exitCode: 0 });
      expect(service.output).not.to.contain('s3cret').and.not.to.contain('mallory');
    }
  });

  it('has the development token in the start event', async () => {
    const { url, developmentToken } = await start({ LOG_FORMAT: 'json' }).listens();
    const headers = { Authorization: `Bearer ${developmentToken!}` };
    const answer = await exchange(url, { path: '/plants', headers });
    expect(answer.status).to.equal(200);
  });

  it('logs the exit after a second signal, with exit code 1', async () => {
    const service = start({ SHUTDOWN_NOTICE_MS: '5000' });
    await service.listens();
    service.signal('SIGTERM');
    await until(() => service.output.includes('"msg":"draining"'));
    // Two signals within half a second count as one.
    await pause(600);
    service.signal('SIGTERM');
    expect(await service.exitCode()).to.equal(1);
    expect(service.events.at(-1)).to.include({ msg: 'ended', exitCode: 1 });
  });

  it('prints its options on --help, and names an unknown argument, with exit code 2', async () => {
    const [explained, unknown] = [start({}, '--help'), start({}, '--chek-config')];
    expect([await explained.exitCode(), await unknown.exitCode()]).to.deep.equal([0, 2]);
    expect(explained.output).to.contain('usage:').and.to.contain('STORE_TIMEOUT_MS');
    expect(unknown.output).to.equal(
      'unknown argument --chek-config: did you mean --check-config?\n`--help` lists all arguments.\n',
    );
  });

  describe('on an older Node', () => {
    const inDirectory = temporaryDirectory();
    for (const script of ['dist/main.js', 'dist/cli.js', 'scripts/test.mjs']) {
      it(`ends in one sentence before it loads anything else: ${script}`, async () => {
        const old = inDirectory('old.cjs');
        writeFileSync(
          old,
          `Object.defineProperty(process, 'version', { value: 'v18.20.8' });
          const ours = () => Object.keys(require.cache).filter((file) => file.includes('/service/'));
          process.on('exit', () => console.log(ours().length, 'file'));`,
        );
        const file = script.startsWith('dist/') ? join(compiled(), script) : script;
        const child = ServiceProcess.spawn({}, { command: [process.execPath, '-r', old, file] });
        expect(await child.exitCode()).to.equal(2);
        expect(child.output).to.match(
          /^plant-store needs Node 20\.19 or newer; this is Node 18\.20\.8\.\n1 file\n$/,
        );
      });
    }
  });

  it('starts before its Redis, answers 503 until Redis starts, and ends with exit code 0', async () => {
    const redis = { EVENT_STORE: 'redis', REDIS_URL: 'redis://127.0.0.1:1', AUTH_TOKENS: 'alice:token-1' };
    const service = start({ ...redis, SHUTDOWN_NOTICE_MS: '0' });
    const { url } = await service.listens();
    const answer = await exchange(url, { path: '/plants', headers: { Authorization: 'Bearer token-1' } });
    expect(answer.status).to.equal(503);
    expect(answer.error).to.equal(50300);
    service.signal('SIGTERM');
    expect(await service.exitCode()).to.equal(0);
  });
});
