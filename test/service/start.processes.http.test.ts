import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { exchange } from '../support/client';
import { compiled, compiledMain } from '../support/compiled';
import { noteOutput } from '../support/suite-log';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

const run = promisify(execFile);

/** The service as a separate process: compiled, unless npm starts it. */
class Start {
  output = '';
  readonly #exited: Promise<number | null>;

  constructor(readonly child: ChildProcess) {
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk) => (this.output += String(chunk)));
    this.#exited = once(child, 'close').then(([code]) => {
      noteOutput(this.output);
      return code as number | null;
    });
  }

  static node(environment: Readonly<Record<string, string>> = {}, ...args: string[]): Start {
    return new Start(spawn(process.execPath, [compiledMain(), ...args], { env: environmentOf(environment) }));
  }

  /** Its output once it serves: the start event, or a text that ends in an empty line. */
  async serving(): Promise<{ url: string; token: string }> {
    while (!/ listens on .*\}\n| listens on [^]*\n\n/.test(this.output)) {
      if (this.child.exitCode !== null) throw new Error(`it ended: ${this.output}`);
      await pause(20);
    }
    return {
      url: / listens on (\S+)/.exec(this.output)![1]!,
      token: /development ?token"?: ?"?([\w-]+)/i.exec(this.output)?.[1] ?? '',
    };
  }

  /** Its output, which must be JSON lines only. */
  get events(): readonly Readonly<Record<string, unknown>>[] {
    const lines = this.output.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async exited(): Promise<number | null> {
    return this.#exited;
  }
}

function environmentOf(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', LOG_LEVEL: 'trace', ...more };
}

describe('The service, started', () => {
  const running: Start[] = [];
  const start = (...args: Parameters<(typeof Start)['node']>) => {
    const started = Start.node(...args);
    running.push(started);
    return started;
  };
  afterEach(() => {
    for (const { child } of running.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  });

  it('prints its address, a token, and curl commands that work when pasted', async () => {
    const service = start({ LOG_FORMAT: 'pretty' });
    await service.serving();
    const curls = service.output.match(/^ +curl .*$/gm)!;
    const answers = [];
    for (const curl of curls) answers.push((await run('sh', ['-c', curl])).stdout);
    expect(answers).to.deep.equal(['{"name":"Fern","tag":"indoor"}', '[{"name":"Fern","tag":"indoor"}]']);
  });

  it('logs a curl command that works when pasted if its output is JSON', async () => {
    const service = start({ LOG_FORMAT: 'json' });
    await service.serving();
    const [, curl] = /"try":"([^"]+)"/.exec(service.output)!;
    expect((await run('sh', ['-c', curl!])).stdout).to.equal('[]');
  });

  it('mints a new development token at each start', async () => {
    const tokens = await Promise.all(
      [start(), start()].map(async (service) => (await service.serving()).token),
    );
    expect(tokens[0]).to.match(/^[\w-]{32,}$/);
    expect(tokens[0]).not.to.equal(tokens[1]);
  });

  for (const signals of [['SIGTERM'], ['SIGINT'], ['SIGINT', 'SIGINT']] as const) {
    it(`ends with exit code 0 on ${signals.join(' and at once ')}`, async () => {
      const service = start({ SHUTDOWN_NOTICE_MS: '0' });
      const { url } = await service.serving();
      await exchange(url, { path: '/' });
      for (const signal of signals) service.child.kill(signal);
      expect(await service.exited()).to.equal(0);
    });
  }

  it('starts and ends under npm, from source, and leaves no process', async () => {
    const npm = new Start(spawn('npm', ['start'], { env: environmentOf({ SHUTDOWN_NOTICE_MS: '0' }) }));
    const { url } = await npm.serving();
    npm.child.kill('SIGTERM');
    expect(await npm.exited()).to.equal(0);
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
      expect(await service.exited()).to.equal(1);
      expect(service.output).to.equal(
        `cannot listen on 127.0.0.1:${port}: another process does. Stop it, or set ${variable} (0 picks a free one).\n`,
      );
      other.close();
    });
  }

  it('reports all problems of the configuration without a stack, with exit code 2', async () => {
    const service = start({ PORT: 'x', AUTH_TOKEN: 'alice:s3cret' });
    expect(await service.exited()).to.equal(2);
    expect(service.output).to.contain('2 problems').and.to.contain('PORT').and.to.contain('AUTH_TOKEN');
    expect(service.output).not.to.match(/s3cret|\n +at /);
  });

  it('checks the configuration on --check-config and starts nothing', async () => {
    const [good, bad] = [start({}, '--check-config'), start({ PORT: 'x' }, '--check-config')];
    expect([await good.exited(), await bad.exited()]).to.deep.equal([0, 2]);
    expect(good.output).to.equal('The configuration is valid.\n');
  });

  it('prints the configuration on --print-config, masked, and starts nothing', async () => {
    const printed = start({ AUTH_TOKENS: 'alice:s3cret' }, '--print-config');
    expect(await printed.exited()).to.equal(0);
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
      const { url } = await service.serving();
      await fetch(url);
      service.child.kill('SIGTERM');
      expect(await service.exited()).to.equal(0);
      expect(service.output).to.match(shape);
    }
  });

  it('prints nothing but JSON: events of start, signal and end, at every level, each with service and version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    for (const LOG_LEVEL of ['trace', 'error']) {
      const service = start({ LOG_LEVEL, AUTH_TOKENS: 'mallory:s3cret', SHUTDOWN_NOTICE_MS: '0' });
      const { url } = await service.serving();
      await fetch(url);
      service.child.kill('SIGTERM');
      expect(await service.exited()).to.equal(0);
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
    const { url, token } = await start({ LOG_FORMAT: 'json' }).serving();
    const answer = await exchange(url, { path: '/plants', headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).to.equal(200);
  });

  it('logs the exit after a second signal, with exit code 1', async () => {
    const service = start({ SHUTDOWN_NOTICE_MS: '5000' });
    await service.serving();
    service.child.kill('SIGTERM');
    await until(() => service.output.includes('"msg":"draining"'));
    // Two signals within half a second count as one.
    await pause(600);
    service.child.kill('SIGTERM');
    expect(await service.exited()).to.equal(1);
    expect(service.events.at(-1)).to.include({ msg: 'ended', exitCode: 1 });
  });

  it('prints its options on --help, and names an unknown argument, with exit code 2', async () => {
    const [explained, unknown] = [start({}, '--help'), start({}, '--chek-config')];
    expect([await explained.exited(), await unknown.exited()]).to.deep.equal([0, 2]);
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
        const child = new Start(
          spawn(
            process.execPath,
            ['-r', old, script.startsWith('dist/') ? join(compiled(), script) : script],
            { env: environmentOf({}) },
          ),
        );
        expect(await child.exited()).to.equal(2);
        expect(child.output).to.match(
          /^plant-store needs Node 20\.19 or newer; this is Node 18\.20\.8\.\n1 file\n$/,
        );
      });
    }
  });

  it('starts before its Redis, answers 503 until Redis starts, and ends with exit code 0', async () => {
    const redis = { EVENT_STORE: 'redis', REDIS_URL: 'redis://127.0.0.1:1', AUTH_TOKENS: 'alice:token-1' };
    const service = start({ ...redis, SHUTDOWN_NOTICE_MS: '0' });
    const { url } = await service.serving();
    const answer = await exchange(url, { path: '/plants', headers: { Authorization: 'Bearer token-1' } });
    expect(answer.status).to.equal(503);
    expect(answer.error).to.equal(50300);
    service.child.kill('SIGTERM');
    expect(await service.exited()).to.equal(0);
  });
});
