import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { compiledCli } from '../support/compiled-cli';
import { describeRedis } from '../support/redis';
import { freePort } from '../support/redis/free-port';
import { ServiceProcess } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { TOKENS } from '../support/watched-service';
import { stepsOf, theBlock } from './shell';

describeRedis('The page about debugging', (redis) => {
  const bash = compiledCli();
  const path = temporaryDirectory();
  let service: ServiceProcess;
  let environment: Record<string, string>;

  beforeEach(async () => {
    const [adminPort, inspector] = [await freePort(), await freePort()];
    service = await ServiceProcess.start({
      ADMIN_PORT: String(adminPort),
      NODE_OPTIONS: `--inspect-port=${inspector}`,
    });
    environment = {
      ...{ URL: service.url, TOKEN: TOKENS.alice, PID: String(service.pid), LOG: path('log'), NAME: 'alice' },
      ...{ INSTANCE: `http://127.0.0.1:${adminPort}`, INSPECTOR: `127.0.0.1:${inspector}` },
      ...{
        EVENT_STORE: 'redis',
        REDIS_URL: redis.url,
        OPERATOR_URL: redis.url,
        REDIS_KEY_PREFIX: redis.prefix,
      },
    };
  });
  afterEach(() => service.kill());

  async function run(script: string): Promise<string> {
    const { code, out, error } = await bash(script, environment, path('.')).ended;
    expect(code, out + error).to.equal(0);
    return out;
  }
  const follow = (step: string) => run(theBlock(`sh debug ${step}`).text);

  async function request(method: 'GET' | 'DELETE', path: string): Promise<string> {
    const headers = { Authorization: `Bearer ${TOKENS.alice}` };
    const response = await fetch(service.url + path, { method, headers });
    return response.text();
  }

  it('finds the slowest requests, and where the time goes', async () => {
    await request('GET', '/plants');
    await request('GET', '/nothing');
    await until(() => service.output.split('"msg":"request"').length === 3);
    writeFileSync(path('log'), service.output);
    expect(await follow('slowest'))
      .to.match(/^[\d.]+ GET \/plants [\w-]{36}$/m)
      .and.match(/^[\d.]+ GET {2}[\w-]{36}$/m);
    // The process's metrics begin with the first scrape.
    await follow('latency');
    const latency = await follow('latency');
    expect(latency).to.match(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
    expect(latency).to.match(/^plant_store_event_store_duration_seconds_count\{.*operation="read".*\} 1$/m);
    expect(latency).to.match(/^\d+ \d+ [\d.]+ \d+$/m);
  });

  /** Enters the commands of a session, each when the prompt has come back. Returns the output. */
  async function inspect(kind: string): Promise<string> {
    const [[shell, session]] = stepsOf(`console inspect ${kind}`) as [[string, string]];
    const env = { PATH: process.env['PATH'], ...environment };
    const program = spawn('bash', ['-c', shell], { env, cwd: path('.') });
    let [output, seen] = ['', 0];
    for (const stream of [program.stdout, program.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = once(program, 'close');
    for (const line of session.trim().split('\n')) {
      const command = line.replace(/^debug> /, '');
      await until(() => output.slice(seen).endsWith('debug> '));
      seen = output.length;
      program.stdin.write(`${command}\n`);
    }
    expect((await ended)[0], output).to.equal(0);
    return output;
  }

  it('takes a CPU profile of a running instance, and closes the inspector', async () => {
    await inspect('profile');
    const profile = JSON.parse(readFileSync(path('service.cpuprofile'), 'utf8')) as { nodes: unknown[] };
    expect(profile.nodes).to.not.be.empty;
    await until(() =>
      fetch(`http://${environment['INSPECTOR']}/json`).then(
        () => false,
        () => true,
      ),
    );
    expect(await request('GET', '/plants')).to.equal('[]');
  });

  it('takes a heap snapshot of a running instance', async () => {
    await inspect('heap');
    const snapshot = JSON.parse(readFileSync(path('service.heapsnapshot'), 'utf8')) as { nodes: unknown[] };
    expect(snapshot.nodes.length).to.be.greaterThan(10_000);
    expect(await request('GET', '/plants')).to.equal('[]');
  });

  it('writes a heap snapshot before the heap is full', async function () {
    this.timeout(300_000);
    const { said, ended } = bash(theBlock('sh debug limit').text, {
      ...{ NODE_OPTIONS: '--max-old-space-size=48', DUMPS: path('.'), PORT: '0', EVENT_STORE: 'memory' },
      ...{ AUTH_TOKENS: `alice:${TOKENS.alice}`, CACHE_MAX_BYTES: '4000000000' },
    });
    await until(() => said.out.includes('listens on'));
    const url = /listens on (http:[^"\s]+)/.exec(said.out)![1]!;
    const name = 'x'.repeat(60_000);
    let [id, running] = [0, true];
    void ended.then(() => (running = false));
    const headers = { Authorization: `Bearer ${TOKENS.alice}`, 'Content-Type': 'application/json' };
    while (running)
      await fetch(`${url}/plants`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ id: ++id, name }),
      }).catch(() => {});
    expect(said.error).to.contain('heap limit');
    const [file] = readdirSync(path('.')).filter((each) => each.endsWith('.heapsnapshot'));
    expect(statSync(path(file!)).size).to.be.greaterThan(1e6);
  });

  it('copies the events of a user without texts, and replays them', async () => {
    await run(`plant-store create --user alice --id 9007199254740993 --name 'Fern "7" é' --tag häuser`);
    await run('plant-store create --user alice --id 2 --name B && plant-store delete --user alice --id 2');
    await follow('export');
    const copy = readFileSync(path('events.ndjson'), 'utf8');
    expect(copy)
      .to.contain('"type":"PlantDeleted"')
      .and.not.match(/Fern|alice|häuser|seal/);
    await follow('replay');
    expect(await request('GET', '/plants')).to.equal('[{"name":"xxxx \\"0\\" x","tag":"xxxxxx"}]');
    expect(await request('DELETE', '/plants/9007199254740993')).to.equal('');
  });
});

interface Launch {
  readonly name: string;
  readonly runtimeArgs?: readonly string[];
  readonly program: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

describeRedis('.vscode/launch.json', (redis) => {
  const { configurations } = JSON.parse(readFileSync('.vscode/launch.json', 'utf8')) as {
    configurations: readonly Launch[];
  };
  const OPEN_FILE = 'test/domain/plant-id.unit.test.ts';

  for (const { name, runtimeArgs = [], program, args = [], env } of configurations) {
    it(`starts: ${name}`, async () => {
      const resolve = (text: string) =>
        text.replace('${workspaceFolder}', process.cwd()).replace('${file}', OPEN_FILE);
      const { PATH, HOME } = process.env;
      const child = spawn(process.execPath, [...runtimeArgs, ...[program, ...args].map(resolve)], {
        env: {
          PATH,
          HOME,
          PORT: '0',
          ...env,
          ...(env?.['REDIS_URL'] && { REDIS_URL: redis.url, REDIS_KEY_PREFIX: redis.prefix }),
        },
      });
      let output = '';
      const ended = once(child, 'close');
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await until(() => / listens on |\d+ passed, 0 failed/.test(output) || child.exitCode !== null);
      child.kill();
      await ended;
      expect(output).to.match(/ listens on |[1-9]\d* passed, 0 failed/);
    });
  }
});
