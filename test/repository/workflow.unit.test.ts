import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

interface Job {
  readonly if?: string;
  readonly needs?: string;
  readonly 'timeout-minutes': number;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const read = (path: string) => readFileSync(path, 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
const { jobs } = parse(read('.github/workflows/ci.yml')) as { jobs: Readonly<Record<string, Job>> };
const { updates } = parse(read('.github/dependabot.yml')) as {
  updates: readonly { readonly directory?: string; readonly directories?: readonly string[] }[];
};

/** The kinds of test files in the globs of an npm script: `unit` of `*.unit.test.ts`. */
function kindsOf(script: string): readonly string[] {
  return scripts[script]!.match(/\{([^}]+)\}\.test\.ts/)![1]!.split(',');
}

/** The time limit of a stage of .ci/run, in minutes. */
function limitOf(stage: string): number {
  const [, limit] = new RegExp(`^  (?:[a-z]+ \\| )?${stage}(?: \\| [a-z]+)?\\) limit=(\\d+)`, 'm').exec(
    read('.ci/run'),
  )!;
  return Number(limit);
}

describe('The stages of .ci/run', () => {
  it('have each test of npm test in the fast one or in that with services', () => {
    const apart = ['package', 'clients', 'container', 'bench', 'prometheus', 'long'];
    const kinds = readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => /([^.]+)\.test\.ts$/.exec(file)![1]!);
    const run = [...kindsOf('test:fast'), ...kindsOf('test:services')];
    expect([...new Set(kinds)].filter((kind) => !apart.includes(kind))).to.have.members(run);
    expect(scripts['test:fast']).to.contain("--ignore 'test/**/*.load.http.test.ts'");
    expect(scripts['test:services']).to.contain("'test/**/*.load.http.test.ts'");
  });

  it('have what npm test leaves out, too, if they have npm test', () => {
    const stages = read('.ci/run')
      .split(/;;\n/)
      .filter((stage) => stage.includes("run_tests 'npm test'"));
    expect(stages).to.have.lengthOf(1);
    expect(stages[0])
      .to.match(/^ *all \| nightly\)/)
      .and.to.contain('npm run --silent check')
      .and.to.contain('npm run --silent test:processes')
      .and.to.contain('test_sample 3 test:slow');
  });

  for (const [name, job] of Object.entries(jobs)) {
    it(`have the job ${name} of the workflow, which gives the stage its time`, () => {
      expect(job.steps.flatMap(({ run = [] }) => run)).to.deep.equal([`bash .ci/run ${name}`]);
      expect(job['timeout-minutes']).to.be.above(limitOf(name));
    });
  }

  it('are in the workflow: the fast one before that with services, and the nightly one', () => {
    expect(Object.keys(jobs)).to.deep.equal(['fast', 'services', 'nightly']);
    expect(jobs['services']!.needs).to.equal('fast');
    expect(jobs['nightly']!.if).to.contain("github.event_name == 'schedule'");
  });
});

describe('The repository', () => {
  it('uses actions at a commit, which no one can move', () => {
    const uses = Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => step.uses ?? []));
    expect(uses).to.not.be.empty;
    for (const action of uses) expect(action).to.match(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  });

  it('has the folders whose dependencies Dependabot updates', () => {
    for (const { directory, directories = [directory!] } of updates)
      for (const each of directories) expect(existsSync(join('.', each)), each).to.equal(true);
  });
});
