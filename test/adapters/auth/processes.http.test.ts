/** Tests that need a process: exit codes, signals, and the command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { exchange } from '../../support/client';
import { compiledMain } from '../../support/compiled';
import { noteOutput } from '../../support/suite-log';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';

describe('Authentication, in a process,', function () {
  this.slow(5000);
  const path = temporaryDirectory();
  let started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL');
    started = [];
  });

  function run(script: readonly string[], environment: Record<string, string> = {}) {
    const child = spawn(process.execPath, script, {
      env: { PATH: process.env['PATH'], PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    return child;
  }

  it('reads the file again on SIGHUP, and keeps running', async () => {
    writeFileSync(path('tokens.json'), '{"users": []}');
    const service = run([compiledMain()], { AUTH_TOKENS_FILE: path('tokens.json') });
    let said = '';
    service.stdout.on('data', (chunk) => (said += String(chunk)));
    const listens = /listens on (http:[^\s"]+)/;
    await until(() => listens.test(said));
    const [, url] = listens.exec(said)!;
    const readings = () => said.split('read AUTH_TOKENS_FILE').length - 1;
    expect(readings()).to.equal(1);
    service.kill('SIGHUP');
    await until(() => readings() === 2);
    expect((await exchange(url!, { path: '/plants' })).status).to.equal(401);
    noteOutput(said);
  });

  it('ends on SIGHUP if it has no token file', async () => {
    const service = run([compiledMain()]);
    await once(service.stdout, 'data');
    service.kill('SIGHUP');
    expect((await once(service, 'exit'))[1]).to.equal('SIGHUP');
  });
});
