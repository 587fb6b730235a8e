/** Tests that need a process: exit codes, signals, and the command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { tokenDigest } from '../../../src/adapters/auth/token-digest';
import { exchange } from '../../support/client';
import { compiled, compiledMain } from '../../support/compiled';
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

  async function ended(child: ReturnType<typeof run>) {
    const [out, error, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return { out, error, code: code as number | null };
  }

  const makeToken = (...args: string[]) =>
    ended(
      run([join(compiled(), 'dist/cli.js'), 'token', ...args], {
        AUTH_TOKENS_FILE: path('tokens.json'),
      }),
    );

  it('creates a token, prints it once, and adds its digest to the file', async () => {
    const { out, error, code } = await makeToken('new', '--user', 'alice', '--note', 'laptop');
    expect(code).to.equal(0);
    const token = out.trim();
    expect(error).not.to.include(token);
    expect(JSON.parse(readFileSync(path('tokens.json'), 'utf8'))).to.deep.equal({
      users: [{ name: 'alice', tokens: [{ sha256: tokenDigest(token), note: 'laptop' }] }],
    });
  });

  it('creates no token without a user, nor in an invalid file', async () => {
    expect(await makeToken('new')).to.include({ out: '', code: 2 });
    writeFileSync(path('tokens.json'), '{}');
    const { out, error, code } = await makeToken('new', '--user', 'alice');
    expect({ out, code }).to.deep.equal({ out: '', code: 1 });
    expect(error).to.include('users must be a list');
    expect(readFileSync(path('tokens.json'), 'utf8')).to.equal('{}');
  });

  it('exits with 2 with an invalid file, and names the variable, the rule and the correction', async () => {
    writeFileSync(path('tokens.json'), '{"users": {}}');
    const { error, code } = await ended(run([compiledMain()], { AUTH_TOKENS_FILE: path('tokens.json') }));
    expect(code).to.equal(2);
    expect(error).to.match(/AUTH_TOKENS_FILE names a file .*: users must be a list\n +→ correct the file/);
  });

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
