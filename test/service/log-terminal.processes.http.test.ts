/** The log of a service process on a terminal that accepts nothing. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { compiledMain } from '../support/compiled';
import { freePort } from '../support/redis/free-port';
import { describePrograms } from '../support/programs';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { requestLines, statusOf } from './log-lines';

const CTRL_S = '\x13';
const CTRL_Q = '\x11';

describePrograms({ script: 'bsdutils' }, 'The log of the service on a terminal', function () {
  this.slow(5000);
  const path = temporaryDirectory();
  let port: number;
  const url = () => `http://127.0.0.1:${port}`;
  let terminal: ChildProcessByStdio<Writable, Readable, null>;
  let output = '';

  before(function () {
    // A terminal is opened twice on Linux only.
    if (process.platform !== 'linux') this.skip();
  });
  /** Starts the service on a terminal of its own, and resolves once it responds. */
  beforeEach(async () => {
    port = await freePort();
    output = '';
    const service = `${process.execPath} ${compiledMain()}`;
    const command = `${service} & echo $! >${path('pid')}; wait $!; echo $? >${path('code')}`;
    terminal = spawn('script', ['-qfc', command, '/dev/null'], {
      env: {
        PATH: process.env['PATH'],
        PORT: String(port),
        AUTH_TOKENS: 'alice:token-1',
        SHUTDOWN_NOTICE_MS: '0',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    terminal.stdout.on('data', (some) => (output += String(some)));
    await until(async () => (await statusOf(`${url()}/health/live`).catch(() => 0)) === 200);
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
  const lines = () => output.split('requestId').length - 1;

  it('stops no request when Ctrl-S pauses the terminal, and has every line after Ctrl-Q', async () => {
    await requestLines(url(), 50);
    await until(() => lines() === 50);
    terminal.stdin.write(CTRL_S);
    await requestLines(url(), 500);
    expect(lines()).to.be.below(550);
    terminal.stdin.write(CTRL_Q);
    await until(() => lines() === 550);
    expect(await exitCode()).to.equal('0\n');
  });

  it('lets SIGTERM end the service with 0 when Ctrl-S pauses the terminal', async () => {
    terminal.stdin.write(CTRL_S);
    await requestLines(url(), 500);
    expect(await exitCode()).to.equal('0\n');
  });

  it('stops no request when the terminal is not read, and SIGTERM ends the service with 0', async () => {
    terminal.stdout.pause();
    // More than the terminal and a pipe hold.
    await requestLines(url(), 2000);
    expect(await exitCode()).to.equal('0\n');
  });
});
