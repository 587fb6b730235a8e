import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { until } from '../support/until';

const bash = promisify(execFile);
const hasRedis = spawnSync('redis-server', ['--version']).error === undefined;

/** Runs `npm run demo` until it prints the commands to try. Returns its output. */
async function demo(environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['-r', 'ts-node/register', 'scripts/demo.ts'], { env: environment });
  const said = { text: '' };
  child.stdout.on('data', (some) => (said.text += String(some)));
  child.stderr.on('data', (some) => (said.text += String(some)));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  await until(() => said.text.includes('Ctrl-C') || child.exitCode !== null);
  return { said: said.text, interrupt: () => child.kill('SIGINT') && ended };
}

/** Runs the printed commands, one after the other, unchanged. */
async function tried(said: string): Promise<string> {
  const commands = said.split('\n').filter((line) => line.startsWith('  curl'));
  let output = '';
  for (const command of commands) output += (await bash('bash', ['-c', `${command} -s`])).stdout;
  return output;
}

describe('npm run demo', function () {
  this.slow(10_000);

  it('starts one instance in memory if there is no Redis, and the commands that it prints work', async () => {
    const { said, interrupt } = await demo({ PATH: '/nowhere' });
    expect(said).to.contain('in memory').and.to.contain('[{"name":"Boston fern"');
    const output = await tried(said);
    expect(output).to.contain('{"name":"Ivy"}').and.to.contain('rel="next"').and.to.contain('204 No Content');
    expect(await interrupt()).to.equal(0);
  });

  it('starts two instances on its own Redis, and ends all of them', async function () {
    if (!hasRedis) this.skip();
    const { said, interrupt } = await demo({ PATH: process.env['PATH']! });
    const [, one, other, port] = /instances, (\S+) and (\S+), on one Redis \(.*port (\d+)\)/.exec(said)!;
    expect(one).not.to.equal(other);
    expect(await tried(said))
      .to.contain('{"name":"Ivy"}')
      .and.to.contain('204 No Content');
    expect(await interrupt()).to.equal(0);
    expect(spawnSync('redis-cli', ['-p', port!, 'ping']).status).not.to.equal(0);
  });
});
