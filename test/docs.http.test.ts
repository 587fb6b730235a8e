import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PROBLEMS } from '../src/adapters/http/problems';
import { type Service, bootstrap } from '../src/bootstrap';
import { readConfig } from '../src/config';

const run = promisify(execFile);
const read = (page: string) => readFileSync(page, 'utf8');
const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

describe('the docs', () => {
  describe("the README's tour", () => {
    const tour = /```console tour\n([^]*?)```/.exec(read('README.md'))![1]!;
    const steps = tour
      .split(/^\$ /m)
      .filter((step) => step !== '')
      .map((step) => [step.slice(0, step.indexOf('\n')), step.slice(step.indexOf('\n') + 1).trim()] as const);
    let service: Service;

    before(async () => {
      service = await bootstrap(readConfig({ PORT: '0', LOG_LEVEL: 'silent' }).config!);
    });
    after(() => service.stop());

    it('has steps', () => expect(steps).to.have.length.above(5));

    for (const [command, output] of steps) {
      it(`prints what it shows: ${command}`, async () => {
        const { stdout } = await run('sh', ['-c', command.replaceAll('http://127.0.0.1:3000', service.url)], {
          env: { ...process.env, TOKEN: service.developmentToken },
        });
        expect(stdout.trim()).to.equal(output);
      });
    }
  });

  it('list every status and number of the catalogue, and no other', () => {
    const rows = [...read('docs/http-api.md').matchAll(/^\| (\d{3}) \| (\d{5}) \|/gm)].map(
      ([, status, error]) => `${status} ${error}`,
    );
    expect(rows).to.have.members(Object.values(PROBLEMS).map(({ status, error }) => `${status} ${error}`));
  });

  it('mention only npm scripts that there are', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const page of pages) {
      for (const [, name] of read(page).matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
        expect(scripts, `${page} says npm run ${name!}`).to.have.property(name!);
      }
    }
  });

  it('link only to files that there are', () => {
    for (const page of pages) {
      for (const [, target] of read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        expect(existsSync(join(dirname(page), target!)), `${page} links to ${target!}`).to.equal(true);
      }
    }
  });

  it('name, for every promise, tests that there are', () => {
    const lines = read('docs/promises.md').match(/^\|(?! promise | ---).*$/gm)!;
    expect(lines).to.have.length.above(20);
    for (const line of lines) {
      const row = /^\| (.+?) \| `((?:test|docs|scripts|\.ci)\/[^`]+)`(?:: (.+?))? \|$/.exec(line);
      expect(row, line).not.to.equal(null);
      const [, promise, file, title] = row!;
      expect(existsSync(file!), `${promise!}: ${file!}`).to.equal(true);
      if (title !== undefined) expect(read(file!), `${promise!}: the test in ${file!}`).to.contain(title);
    }
  });
});
