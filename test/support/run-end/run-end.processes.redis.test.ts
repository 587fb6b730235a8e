import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { describeRedis } from '../redis';
import { endWithProcess } from '../redis/end-with-process';

/** Runs Node with these arguments, to the end of the process and of all that it started. */
async function node(...args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const forget = endWithProcess(() => child.kill('SIGKILL'));
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  forget();
  return { code, lines: out.trimEnd().split('\n'), error };
}

const fixture = (name: string) => join(__dirname, `${name}.ts`);
const mocha = (...args: string[]) => node(require.resolve('mocha/bin/mocha.js'), ...args);
/** Runs mocha as `npm test` does, once with each list of arguments. */
const inParallel = (...runs: string[][]) => {
  const module = JSON.stringify(pathToFileURL('scripts/parallel-runs.mjs').href);
  const code = `import { runInParallel } from ${module}; process.exitCode = await runInParallel(${JSON.stringify(runs)});`;
  return node('--input-type=module', '--eval', code);
};

describeRedis('A run of mocha', (redis) => {
  it('ends after a failure although a server is open, fails, and names the server', async () => {
    expect(redis.url).to.match(/^redis/);
    const { code, lines, error } = await mocha('--bail', fixture('fails-beside-redis'));
    expect(code).to.equal(1);
    expect(lines.join('\n')).to.contain('the planted failure');
    expect(lines.at(-1)).to.equal('0 passed, 1 failed');
    expect(error).to.match(
      /The run did not end after its last test. Still open:\n {2}a server on port \d+\n$/,
    );
  });

  it('fails if all its tests passed and one left a server open', async () => {
    const { code, lines, error } = await mocha(fixture('leaves-a-server'));
    expect([code, lines.at(-1)]).to.deep.equal([1, '1 passed, 0 failed']);
    expect(error).to.match(/a server on port \d+\n$/);
  });

  it('fails if no test has the title', async () => {
    const { code, lines } = await mocha('--grep', 'nonsense', fixture('leaves-a-server'));
    expect([code, lines.at(-1)]).to.deep.equal([1, '0 passed, 0 failed']);
  });
});

describe('Parallel runs of mocha', () => {
  it('end with the first failure of one of them, with --bail', async () => {
    const { code, lines } = await inParallel(
      ['--bail', fixture('leaves-a-server')],
      ['--bail', fixture('waits')],
    );
    expect(code).to.equal(1);
    expect(lines.slice(-2)).to.deep.equal([
      'the other runs were ended, because of --bail',
      '1 passed, 1 failed',
    ]);
  });

  it('pass if one of them has the title of --grep, and fail if none has it', async () => {
    const titled = (title: string) =>
      inParallel(['--grep', title, fixture('has-a-title')], ['--grep', title, fixture('waits')]);
    expect(await titled('the title'))
      .to.include({ code: 0 })
      .and.to.have.deep.property('lines', ['1 passed, 0 failed']);
    expect(await titled('nonsense'))
      .to.include({ code: 1 })
      .and.to.have.deep.property('lines', ['no test ran', '0 passed, 0 failed']);
  });
});
