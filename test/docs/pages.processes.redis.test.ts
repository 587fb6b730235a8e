import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { describeRedis } from '../support/redis';
import { freePort } from '../support/ports';
import { ServiceProcess } from '../support/service-process';
import { BLOCKS, type Project, newProject, play, theBlock } from './samples';

describe("The README's first minute", () => {
  let service: ServiceProcess;
  before(async function () {
    this.timeout(120_000);
    const [install, start] = theBlock('sh start').trim().split(' && ');
    expect(install).to.equal('npm ci');
    const environment = { LOG_LEVEL: '', LOG_FORMAT: 'pretty' };
    service = await ServiceProcess.spawn(environment, { command: start!.split(' ') }).listens();
  });
  after(async () => {
    // npm passes it on.
    service.signal('SIGINT');
    await service.exitCode();
  });

  it('is a tour whose commands print what the page shows', () => {
    const url = (text: string) => text.replaceAll('http://127.0.0.1:3000', service.url);
    const [, TOKEN] = /development token: ?([\w-]+)/i.exec(service.output)!;
    const env = { ...process.env, TOKEN };
    play(
      'console tour',
      (script) => execFileSync('bash', ['-c', script], { env, encoding: 'utf8' }),
      url,
    );
  });
});

describeRedis('The sessions of docs/command-line.md', (startRedis) => {
  it('print what the page shows', async () => {
    const project = newProject('session');
    const settings = { EVENT_STORE: 'redis', REDIS_URL: (await startRedis()).url };
    play('console session', (script) => project.run(`exec 2>&1\n${script}`, settings));
  });
});

describe('The code of docs/library.md', function () {
  this.timeout(120_000);
  let project: Project;
  before(() => {
    project = newProject('library');
    const write = (file: string, text: string) => writeFileSync(project.path(file), text);
    write('package.json', '{ "type": "module" }');
    for (const { page, kind, text } of BLOCKS) {
      const [language, name = 'program'] = kind.split(' ');
      if (page !== 'docs/library.md') continue;
      if (name.includes('.')) write(name, text);
      else if (language === 'ts') write(`${name}.ts`, text);
    }
    project.run('tsc');
  });

  it('runs', () => void project.run('mocha --no-config dist/mocha.js && node dist/program.js'));

  describeRedis('and its bank', (startRedis) => {
    it('gives the answers that the page shows', async () => {
      const { url } = await startRedis();
      const port = await freePort();
      project.run(`sed -i 's/listen(3001,/listen(${port},/' server.ts`);
      const here = (text: string) =>
        text
          .replaceAll('127.0.0.1:3001', `127.0.0.1:${port}`)
          .replace('redis://127.0.0.1:6379', url);
      const listens = `until curl -s http://127.0.0.1:3001/total >/dev/null; do sleep 0.1; done`;
      play(
        'console bank',
        (script) => project.run(`trap 'kill $(jobs -p)' EXIT\n${script}`),
        here,
        listens,
      );
    });
  });
});
