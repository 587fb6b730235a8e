import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

/** For machines without Docker: runs the first stage of the Dockerfile in a folder. */
describe('The steps of the Dockerfile, in a clean folder', () => {
  const inFolder = temporaryDirectory();
  const lines = readFileSync('Dockerfile', 'utf8').replaceAll('\\\n', '').split('\n');

  it('build a service that passes its health check', async function () {
    this.timeout(240_000);
    const folder = inFolder('app');
    mkdirSync(folder);
    const firstStage = lines.slice(
      0,
      lines.findIndex((line) => /^FROM .* AS node$/.test(line)),
    );
    const steps = firstStage.flatMap((line) => /^(COPY|RUN) +(.*)$/.exec(line)?.slice(1) ?? []);
    expect(steps).to.have.length.above(7);
    for (let i = 0; i < steps.length; i += 2) {
      const [instruction, rest] = [steps[i]!, steps[i + 1]!];
      if (instruction === 'RUN') {
        execFileSync('sh', ['-c', rest], { cwd: folder, stdio: 'pipe' });
      } else {
        const names = rest.split(' ');
        const to = names.pop()!;
        for (const name of names) cpSync(name, join(folder, to === './' ? name : to), { recursive: true });
      }
    }

    const command = (start: RegExp) =>
      JSON.parse(lines.find((line) => start.test(line))!.replace(start, '')) as string[];
    const PORT = String(await freePort());
    const env = {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      EVENT_STORE: 'memory',
      PORT,
      AUTH_TOKENS: 'alice:0123456789abcdef',
    };
    const [, main] = command(/^ENTRYPOINT /);
    const service = spawn('node', [main!.replace('/app', folder), ...command(/^CMD /)], {
      env,
      stdio: 'ignore',
    });
    try {
      const [program, ...args] = command(/^HEALTHCHECK .* CMD /);
      await until(() => {
        try {
          execFileSync(program!, args, { env, stdio: 'pipe' });
          return true;
        } catch {
          return false;
        }
      });
    } finally {
      service.kill();
    }
  });
});
