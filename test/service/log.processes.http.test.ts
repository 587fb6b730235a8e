/** The log of a service process whose standard output cannot be written, is not read, or ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { compiled } from '../support/compiled';
import { metricOf } from '../support/metrics';
import { describePrograms } from '../support/programs';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

let url: string;

/** Starts a command with the environment of a service, and resolves once the service answers. */
async function start(
  command: string,
  args: string[],
  stdio: ('pipe' | 'ignore' | number)[],
): Promise<ChildProcess> {
  const port = String(await freePort());
  url = `http://127.0.0.1:${port}`;
  const env = { PATH: process.env['PATH'], PORT: port, SHUTDOWN_NOTICE_MS: '0', TERM: 'dumb' };
  const child = spawn(command, args, { env, stdio });
  await until(async () => (await statusOf('/health/live').catch(() => 0)) === 200);
  return child;
}

async function statusOf(path: string): Promise<number> {
  const answer = await fetch(url + path, { signal: AbortSignal.timeout(30_000) });
  await answer.arrayBuffer();
  return answer.status;
}

/** Sends requests that are answered with 404, 50 at a time: each is a line of the log. */
async function request(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 50) {
    const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf('/nowhere')));
    expect(new Set(statuses)).to.have.all.keys(404);
  }
}

describe('The log of the service', function () {
  this.slow(5000);
  const path = temporaryDirectory();
  let child: ChildProcess;
  afterEach(() => child.kill('SIGKILL'));

  async function startWith(stdout: 'pipe' | number, ...options: string[]): Promise<void> {
    child = await start(
      process.execPath,
      [...options, `${compiled()}/dist/main.js`],
      ['ignore', stdout, 'ignore'],
    );
  }
  async function exitCode(signal: NodeJS.Signals = 'SIGTERM'): Promise<unknown> {
    const ended = once(child, 'exit');
    child.kill(signal);
    return (await ended)[0];
  }
  /** The rest of its standard output, as lines. */
  async function restOfLines(): Promise<readonly string[]> {
    let text = '';
    child.stdout!.on('data', (some) => (text += String(some)));
    await once(child, 'close');
    return text.split('\n').slice(0, -1);
  }
  const requestsIn = (lines: readonly string[]) => lines.filter((line) => line.includes('"msg":"request"'));

  for (const output of ['a full disk', 'a closed pipe'])
    it(`counts the lines lost on ${output}, while every request is answered and SIGTERM ends it with 0`, async () => {
      const full = openSync('/dev/full', 'w');
      await startWith(output === 'a full disk' ? full : 'pipe');
      closeSync(full);
      child.stdout?.destroy();
      await request(100);
      await until(async () => (await metricOf(url, 'plant_store_log_lines_dropped_total')) >= 100);
      expect(await exitCode()).to.equal(0);
    });

  it('loses no line to a reader that pauses, while every request is answered', async () => {
    await startWith('pipe');
    // More than a pipe holds.
    await request(2000);
    const lines = restOfLines();
    await request(50);
    await exitCode();
    expect(requestsIn(await lines)).to.have.length(2050);
  });

  it('has every line and the fault if a fault ends the process', async () => {
    writeFileSync(path('fault.js'), "process.on('SIGUSR2', () => { throw new Error('a bug'); });");
    await startWith('pipe', '-r', path('fault.js'));
    const lines = restOfLines();
    await request(50);
    expect(await exitCode('SIGUSR2')).to.equal(1);
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
  afterEach(() => terminal.kill('SIGKILL'));

  it('stops neither a request nor the end while Ctrl-S pauses it, and has every line after Ctrl-Q', async () => {
    const service = `${process.execPath} ${compiled()}/dist/main.js`;
    const command = `stty cols 0; ${service} & echo $! >${path('pid')}; wait $!; echo $? >${path('new')}; mv ${path('new')} ${path('code')}`;
    terminal = await start('script', ['-qfc', command, '/dev/null'], ['pipe', 'pipe', 'ignore']);
    let output = '';
    terminal.stdout!.on('data', (some) => (output += String(some)));
    const lines = () => output.split('/nowhere 404').length - 1;
    await request(50);
    await until(() => lines() === 50);
    terminal.stdin!.write('\x13');
    await request(500);
    expect(lines()).to.be.below(550);
    terminal.stdin!.write('\x11');
    await until(() => lines() === 550);
    // TERM=dumb has no colours.
    expect(output).not.to.contain('\x1b');
    terminal.stdin!.write('\x13');
    await request(500);
    process.kill(Number(readFileSync(path('pid'), 'utf8')), 'SIGTERM');
    await until(() => existsSync(path('code')));
    expect(readFileSync(path('code'), 'utf8')).to.equal('0\n');
  });
});
