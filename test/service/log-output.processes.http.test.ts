/** The log of a service process whose standard output cannot be written, or that ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { compiledMain } from '../support/compiled';
import { freePort } from '../support/redis/free-port';
import { noteOutput } from '../support/suite-log';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { requestLines, statusOf } from './log-lines';

describe('The log of the service', function () {
  this.slow(5000);
  const path = temporaryDirectory();
  let port: number;
  const url = () => `http://127.0.0.1:${port}`;
  let child: ChildProcess;

  beforeEach(async () => {
    port = await freePort();
  });
  afterEach(() => child.kill('SIGKILL'));

  /** Resolves once the service responds. */
  async function start(stdout: 'pipe' | number, ...options: readonly string[]): Promise<void> {
    child = spawn(process.execPath, [...options, compiledMain()], {
      env: {
        PATH: process.env['PATH'],
        PORT: String(port),
        AUTH_TOKENS: 'alice:token-1',
        SHUTDOWN_NOTICE_MS: '0',
      },
      stdio: ['ignore', stdout, 'pipe'],
    });
    await until(async () => (await statusOf(`${url()}/health/live`).catch(() => 0)) === 200);
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
    noteOutput(text);
    return text.split('\n').slice(0, -1);
  }
  const requestsIn = (lines: readonly string[]) => lines.filter((line) => line.includes('"msg":"request"'));

  it('counts the lines lost on a full disk, while every request is answered and SIGTERM ends it with 0', async function () {
    if (!existsSync('/dev/full')) this.skip();
    const full = openSync('/dev/full', 'w');
    await start(full);
    closeSync(full);
    await requestLines(url(), 100);
    await until(async () => {
      const metrics = await (await fetch(`${url()}/metrics`)).text();
      return Number(/^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics)![1]) > 100;
    });
    expect(await exitCode()).to.equal(0);
  });

  it('loses no line to a reader that pauses, while every request is answered', async () => {
    await start('pipe');
    // More than a pipe holds.
    await requestLines(url(), 2000);
    const lines = restOfLines();
    await requestLines(url(), 50);
    await exitCode();
    expect(requestsIn(await lines)).to.have.length(2050);
  });

  it('lets SIGTERM end the service with 0 while its reader never reads', async () => {
    await start('pipe');
    await requestLines(url(), 2000);
    expect(await exitCode()).to.equal(0);
  });

  it('goes to a closed pipe while every request is answered, and SIGTERM ends it with 0', async () => {
    await start('pipe');
    child.stdout!.destroy();
    await requestLines(url(), 100);
    expect(await exitCode()).to.equal(0);
  });

  it('has every line and the fault if a fault ends the process', async () => {
    writeFileSync(path('fault.js'), "process.on('SIGUSR2', () => { throw new Error('a bug'); });");
    await start('pipe', '-r', path('fault.js'));
    const ended = once(child, 'exit');
    const lines = restOfLines();
    await requestLines(url(), 50);
    child.kill('SIGUSR2');
    expect(await ended).to.deep.equal([1, null]);
    expect(requestsIn(await lines)).to.have.length(50);
    const [fault, end] = (await lines).slice(-2).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(fault).to.include({ level: 60, msg: 'a fault ends the process' });
    expect(fault!['err']).to.include({ type: 'Error', message: 'a bug' });
    expect(end).to.include({ msg: 'ended', exitCode: 1 });
  });
});
