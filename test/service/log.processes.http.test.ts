/** The log of a service process whose standard output cannot be written, is not read, or ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { compiledMain } from '../support/compiled';
import { metricOf } from '../support/metrics';
import { describePrograms } from '../support/programs';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  await answer.arrayBuffer();
  return answer.status;
}

let port: number;
const url = () => `http://127.0.0.1:${port}`;
const environment = () => ({
  ...{ PATH: process.env['PATH'], PORT: String(port), AUTH_TOKENS: 'alice:token-1', SHUTDOWN_NOTICE_MS: '0' },
});
const untilAlive = () => until(async () => (await statusOf(`${url()}/health/live`).catch(() => 0)) === 200);

/** Sends requests that are answered with 404, 50 at a time: each is a line of the log. */
async function request(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 50)
    for (const status of await Promise.all(Array.from({ length: 50 }, () => statusOf(`${url()}/nowhere`))))
      expect(status).to.equal(404);
}

describe('The log of the service', function () {
  this.slow(5000);
  const path = temporaryDirectory();
  let child: ChildProcess;
  beforeEach(async () => (port = await freePort()));
  afterEach(() => child.kill('SIGKILL'));

  async function start(stdout: 'pipe' | number, ...options: readonly string[]): Promise<void> {
    const args = [...options, compiledMain()];
    child = spawn(process.execPath, args, { env: environment(), stdio: ['ignore', stdout, 'pipe'] });
    await untilAlive();
  }
  async function exitCode(): Promise<number | null> {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    return ((await ended) as [number | null])[0];
  }
  /** The rest of its standard output, as lines. */
  async function restOfLines(): Promise<readonly string[]> {
    let text = '';
    child.stdout!.on('data', (some) => (text += String(some)));
    await once(child, 'close');
    return text.split('\n').slice(0, -1);
  }
  const requestsIn = (lines: readonly string[]) => lines.filter((line) => line.includes('"msg":"request"'));

  it('counts the lines lost on a full disk, while every request is answered and SIGTERM ends it with 0', async function () {
    if (!existsSync('/dev/full')) return this.skip();
    const full = openSync('/dev/full', 'w');
    await start(full);
    closeSync(full);
    await request(100);
    await until(async () => (await metricOf(url(), 'plant_store_log_lines_dropped_total')) > 100);
    expect(await exitCode()).to.equal(0);
  });

  it('loses no line to a reader that pauses, while every request is answered', async () => {
    await start('pipe');
    // More than a pipe holds.
    await request(2000);
    const lines = restOfLines();
    await request(50);
    await exitCode();
    expect(requestsIn(await lines)).to.have.length(2050);
  });

  it('lets SIGTERM end the service with 0 while its reader never reads', async () => {
    await start('pipe');
    await request(2000);
    expect(await exitCode()).to.equal(0);
  });

  it('goes to a closed pipe while every request is answered, and SIGTERM ends it with 0', async () => {
    await start('pipe');
    child.stdout!.destroy();
    await request(100);
    expect(await exitCode()).to.equal(0);
  });

  it('has every line and the fault if a fault ends the process', async () => {
    writeFileSync(path('fault.js'), "process.on('SIGUSR2', () => { throw new Error('a bug'); });");
    await start('pipe', '-r', path('fault.js'));
    const ended = once(child, 'exit');
    const lines = restOfLines();
    await request(50);
    child.kill('SIGUSR2');
    expect(await ended).to.deep.equal([1, null]);
    expect(requestsIn(await lines)).to.have.length(50);
    const [fault, end] = (await lines).slice(-2).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(fault).to.include({ level: 60, msg: 'a fault ends the process' });
    expect(fault!['err']).to.include({ type: 'Error', message: 'a bug' });
    expect(end).to.include({ msg: 'ended', exitCode: 1 });
  });
});

// A terminal is opened twice on Linux only.
describePrograms({ script: 'bsdutils' }, 'The log of the service on a terminal of Linux', function () {
  this.slow(5000);
  const path = temporaryDirectory();
  let terminal: ChildProcess;
  let output: string;

  beforeEach(async () => {
    port = await freePort();
    output = '';
    const service = `${process.execPath} ${compiledMain()}`;
    const command = `stty cols 0; ${service} & echo $! >${path('pid')}; wait $!; echo $? >${path('new')}; mv ${path('new')} ${path('code')}`;
    terminal = spawn('script', ['-qfc', command, '/dev/null'], {
      env: { ...environment(), TERM: 'dumb' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    terminal.stdout!.on('data', (some) => (output += String(some)));
    await untilAlive();
    await until(() => output.includes(String(port)));
  });
  afterEach(() => {
    signal('SIGKILL');
    terminal.kill('SIGKILL');
  });

  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(Number(readFileSync(path('pid'), 'utf8')), name);
    } catch {
      // It has ended.
    }
  }
  async function exitCode(): Promise<string> {
    signal('SIGTERM');
    await until(() => existsSync(path('code')));
    return readFileSync(path('code'), 'utf8');
  }
  const lines = () => output.split('/nowhere 404').length - 1;

  it('stops no request when Ctrl-S pauses the terminal, has every line after Ctrl-Q, and is plain for TERM=dumb', async () => {
    await request(50);
    await until(() => lines() === 50);
    terminal.stdin!.write('\x13');
    await request(500);
    expect(lines()).to.be.below(550);
    terminal.stdin!.write('\x11');
    await until(() => lines() === 550);
    expect(await exitCode()).to.equal('0\n');
    expect(output).not.to.contain('\x1b');
  });

  it('lets SIGTERM end the service with 0 when Ctrl-S pauses the terminal', async () => {
    terminal.stdin!.write('\x13');
    await request(500);
    expect(await exitCode()).to.equal('0\n');
  });

  it('stops no request when the terminal is not read, and SIGTERM ends the service with 0', async () => {
    terminal.stdout!.pause();
    // More than the terminal and a pipe hold.
    await request(2000);
    expect(await exitCode()).to.equal('0\n');
  });
});
