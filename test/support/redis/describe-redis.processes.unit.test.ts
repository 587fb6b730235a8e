import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';

/** Two suites on the shared Redis and one with its own server, in a separate mocha run. */
async function runTwoSuites(env: NodeJS.ProcessEnv): Promise<{ code: number; lines: string[] }> {
  const mocha = [require.resolve('mocha/bin/mocha.js'), '--no-config', '--require', 'ts-node/register'];
  const reporter = ['--reporter', join(__dirname, '../reporter.ts')];
  const run = spawn(process.execPath, [...mocha, ...reporter, join(__dirname, 'two-suites.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(run.stdout), once(run, 'exit') as Promise<[number]>]);
  return { code, lines: output.trimEnd().split('\n') };
}

describe('Redis suites', () => {
  const nowhere = { PATH: '/nowhere', DOCKER_HOST: 'unix:///nowhere/docker.sock' };
  const reason =
    'no Redis here: no Docker daemon answers at unix:///nowhere/docker.sock; no redis-server is on the PATH';

  it('are pending on a machine without Redis, with the reason', async () => {
    const { code, lines } = await runTwoSuites(nowhere);
    expect(lines).to.deep.equal([`skipped (3): ${reason}`, '0 passed, 0 failed, 3 skipped']);
    expect(code).to.equal(0);
  });

  it('fail on such a machine if CI is set', async () => {
    const { code, lines } = await runTwoSuites({ ...nowhere, CI: 'true' });
    expect(lines.filter((line) => line.includes(reason))).to.have.lengthOf(2);
    expect(lines.at(-1)).to.equal('0 passed, 2 failed');
    expect(code).not.to.equal(0);
  });

  it('fail if REDIS_URL does not answer, but those that kill servers never use it', async () => {
    const { lines } = await runTwoSuites({ ...nowhere, REDIS_URL: 'redis://127.0.0.1:1' });
    expect(lines[0]).to.equal('Redis shared by the suites: REDIS_URL (127.0.0.1:1)');
    expect(lines.join('\n')).to.contain('no Redis answers at 127.0.0.1:1');
    expect(lines.slice(-2)).to.deep.equal([`skipped (1): ${reason}`, '0 passed, 1 failed, 1 skipped']);
  });

  describe('with a Docker daemon that has no image and cannot pull it', () => {
    let directory: string;
    let daemon: Server;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'plant-store-daemon-'));
      daemon = createServer((request, response) => {
        const [status, body] = request.url!.includes('/images/create')
          ? [500, { message: 'no route to the registry' }]
          : request.url!.includes('/images/')
            ? [404, { message: 'No such image' }]
            : [200, {}];
        response.writeHead(status).end(JSON.stringify(body));
      });
      await once(daemon.listen(join(directory, 'docker.sock')), 'listening');
    });
    afterEach(async () => {
      daemon.closeAllConnections();
      daemon.close();
      await rm(directory, { recursive: true });
    });

    it('try the next provider, and print why', async () => {
      const { lines } = await runTwoSuites({
        PATH: '/nowhere',
        DOCKER_HOST: `unix://${directory}/docker.sock`,
        REDIS_IMAGE: 'redis:of-our-own',
      });
      expect(lines[0]).to.contain('it has no image redis:of-our-own and could not pull it');
      expect(lines[0]).to.contain('no route to the registry');
      expect(lines[0]).to.contain('no redis-server is on the PATH');
      expect(lines.at(-1)).to.equal('0 passed, 0 failed, 3 skipped');
    });
  });
});
