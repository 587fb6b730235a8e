/** The log of a service process whose standard output cannot be written, is not read, or ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { compiled } from '../support/compiled';
import { metricOf } from '../support/metrics';
import { describePrograms } from '../support/programs';
import { freePort } from '../support/ports';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

describe('The log of the service', function () {
  this.slow(5000);
  const path = temporaryDirectory();
  let url: string;
  let child: ChildProcess;
  afterEach(() => child.kill('SIGKILL'));

  /** Starts a command with the environment of a service, and resolves once the service answers. */
  async function start(command: string, ...args: string[]): Promise<void> {
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    const env = { PATH: process.env['PATH'], PORT: port, SHUTDOWN_NOTICE_MS: '0', TERM: 'dumb' };
    child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    await until(async () => (await statusOf('/health/live').catch(() => 0)) === 200);
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

  async function exitCode(signal: NodeJS.Signals): Promise<unknown> {
    child.kill(signal);
    return (await once(child, 'exit'))[0];
  }

  it('counts lines that a closed pipe loses, while requests are answered and the exit code is 0', async () => {
    await start(process.execPath, `${compiled()}/dist/main.js`);
    child.stdout!.destroy();
    await request(100);
    await until(async () => (await metricOf(url, 'plant_store_log_lines_dropped_total')) >= 100);
    expect(await exitCode('SIGTERM')).to.equal(0);
  });

  it('loses no line if its reader pauses, or if an error, which it contains, ends the process', async () => {
    writeFileSync(path('fault.js'), "process.on('SIGUSR2', () => { throw new Error('a bug'); });");
    await start(process.execPath, '-r', path('fault.js'), `${compiled()}/dist/main.js`);
    // More than a pipe holds.
    await request(2000);
    const output = child.stdout!.toArray();
    await request(50);
    expect(await exitCode('SIGUSR2')).to.equal(1);
    const lines = Buffer.concat((await output) as Buffer[])
      .toString()
      .split('\n');
    expect(lines.filter((line) => line.includes('"msg":"request"'))).to.have.length(2050);
    const [fault, end] = lines
      .slice(-3, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(fault).to.include({ level: 60, msg: 'an uncaught error ends the process' });
    expect(fault!['err']).to.include({ type: 'Error', message: 'a bug' });
    expect(end).to.include({ msg: 'ended', exitCode: 1 });
  });

  // A terminal is opened twice on Linux only.
  describePrograms({ script: 'bsdutils' }, 'on a terminal of Linux', () => {
    it('blocks neither requests nor the exit while Ctrl-S pauses it, and is complete after Ctrl-Q', async () => {
      const service = `${process.execPath} ${compiled()}/dist/main.js`;
      const command = `stty cols 0
        ${service} &
        echo $! >${path('pid')}
        wait $!
        echo $? >${path('new')}
        mv ${path('new')} ${path('code')}`;
      await start('script', '-qfc', command, '/dev/null');
      let output = '';
      child.stdout!.on('data', (some) => (output += String(some)));
      const lines = () => output.split('/nowhere 404').length - 1;
      await request(50);
      await until(() => lines() === 50);
      child.stdin!.write('\x13');
      await request(500);
      expect(lines()).to.be.below(550);
      child.stdin!.write('\x11');
      await until(() => lines() === 550);
      // TERM=dumb has no colours.
      expect(output).not.to.contain('\x1b');
      child.stdin!.write('\x13');
      await request(500);
      process.kill(Number(readFileSync(path('pid'), 'utf8')), 'SIGTERM');
      await until(() => existsSync(path('code')));
      expect(readFileSync(path('code'), 'utf8')).to.equal('0\n');
    });

    it('is written to a terminal that may not be opened again, such as that of a different user', async () => {
      // Root may open every file, unless it has lost this right.
      const isRoot = process.getuid?.() === 0;
      const enter = isRoot ? 'setpriv --bounding-set=-dac_override,-dac_read_search ' : '';
      const command = `chmod 0 "$(tty)"; exec ${enter}${process.execPath} ${compiled()}/dist/main.js`;
      await start('script', '-qfc', command, '/dev/null');
      let output = '';
      child.stdout!.on('data', (some) => (output += String(some)));
      await request(50);
      await until(() => output.split('/nowhere 404').length > 50);
    });
  });
});
