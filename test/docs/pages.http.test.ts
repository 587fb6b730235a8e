import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Operation } from '../../src/adapters/http/openapi/parts';
import { USER_OPERATIONS } from '../../src/adapters/http/openapi/operations';
import { PROBLEMS, statusOf } from '../../src/adapters/http/app/problems';
import { MEMBERS, MEMBER_NAMES } from '../../src/domain';
import { type WatchedService, startWatched } from '../support/watched-service';
import { PAGES } from './blocks';
import { stepsOf } from './shell';

const run = promisify(execFile);
const read = (page: string) => readFileSync(page, 'utf8');

describe('The pages', () => {
  describe("with the README's tour", () => {
    const steps = stepsOf('console tour');
    let service: WatchedService;

    before(async () => {
      service = await startWatched({ AUTH_TOKENS: '' });
    });
    after(() => service.stop());

    it('have a tour of several steps', () => expect(steps).to.have.length.above(5));

    for (const [command, output] of steps) {
      it(`show the output of ${command}`, async () => {
        const { stdout } = await run('sh', ['-c', command.replaceAll('http://127.0.0.1:3000', service.url)], {
          env: { ...process.env, TOKEN: service.developmentToken },
        });
        expect(stdout.trim()).to.equal(output.trim());
      });
    }
  });

  it('list every status and error number of the catalogue, and no other', () => {
    const rows = [...read('docs/http-api.md').matchAll(/^\| (\d{3}) \| (\d{5}) \|/gm)].map(
      ([, status, error]) => `${status} ${error}`,
    );
    expect(rows).to.have.members(
      Object.values(PROBLEMS).map((problem) => `${statusOf(problem)} ${problem.error}`),
    );
  });

  it('list every operation with a user, with its parameters, and no other', () => {
    const rows = [...read('docs/http-api.md').matchAll(/^\| [\w ]+ \| `([A-Z]+ \/[^`]*)`(.*?) \|/gm)].map(
      ([, operation, rest = '']) => [operation, ...[...rest.matchAll(/`\?(\w+)=`/g)].map(([, name]) => name)],
    );
    const documented = Object.values<Operation>(USER_OPERATIONS).map(({ method, path, parameters = [] }) => [
      `${method} ${path}`,
      ...parameters.filter((each) => each.in === 'query').map(({ name }) => name),
    ]);
    expect(rows).to.have.deep.members(documented);
  });

  it('have a row for each member of a plant in docs/http-api.md, with its rule', () => {
    const page = read('docs/http-api.md');
    const rows = [...page.matchAll(/^\| `(\w+)` \| (?:required|optional) \|/gm)].map(([, name]) => name);
    expect(rows).to.have.members(['id', ...MEMBER_NAMES]);
    for (const name of MEMBER_NAMES) {
      const { optional, minLength } = MEMBERS[name];
      const rule = minLength === 0 ? 'a string, possibly empty' : 'a string of at least one character';
      expect(page).to.contain(`| \`${name}\` | ${optional ? 'optional' : 'required'} | ${rule}`);
    }
  });

  it('mention only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const page of PAGES) {
      for (const [, name] of read(page).matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
        expect(scripts, `${page} says npm run ${name!}`).to.have.property(name!);
      }
    }
  });

  it('link only to files that exist', () => {
    for (const page of PAGES) {
      for (const [, target] of read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        expect(existsSync(join(dirname(page), target!)), `${page} links to ${target!}`).to.equal(true);
      }
    }
  });

  it('name an existing test for every promise, and the fault with which it fails', () => {
    const tables = read('docs/promises.md').match(/^\| promise \|.*\n(?:\|.*\n)+/gm)!;
    const rows = tables.flatMap((table) => {
      const [columns, , ...lines] = table.trimEnd().split('\n').map(cellsOf);
      expect(columns!.slice(0, 2)).to.deep.equal(['promise', 'test']);
      for (const cells of lines) {
        expect(cells, cells.join()).to.have.length(columns!.length);
        for (const cell of cells) expect(cell, cells.join()).not.to.equal('');
      }
      return lines;
    });
    expect(rows).to.have.length.above(20);
    for (const [promise = '', tests = ''] of rows) {
      for (const test of tests.split(/; (?=`)/)) {
        const [, file, title = ''] = /^`((?:test|docs|scripts|\.ci)\/[^`]+)`(?:: (.+))?$/.exec(test) ?? [];
        expect(file, promise).not.to.equal(undefined);
        expect(existsSync(file!), `${promise}: ${file!}`).to.equal(true);
        expect(read(file!), `${promise}: the test in ${file!}`).to.contain(title);
      }
    }
  });
});

/** The cells of a row of a table. */
function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
