import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pendingIf } from '../support/programs';
import { describeOwnRedis } from '../support/redis';
import { type Project, newProject } from './project';

/** Not among the packages of this project: the test installs them. */
const OWN = ['@event-driven-io/emmett', '@types/node'];

/** A Node with `node:sqlite`. */
const NODE = Number(process.versions.node.split('.')[0]) >= 24 ? 'node' : 'npx --yes --package node@24 node';

describe('docs/examples', function () {
  this.timeout(300_000);
  let project: Project;

  pendingIf(() => {
    project = newProject('examples');
    cpSync('docs/examples', project.path('.'), { recursive: true });
    const { dependencies, devDependencies } = JSON.parse(readFileSync('docs/examples/package.json', 'utf8'));
    const versions = { ...dependencies, ...devDependencies } as Record<string, string>;
    const packages = OWN.map((name) => `'${name}@${versions[name]}'`).join(' ');
    try {
      project.run(`npm install --no-save --no-package-lock --no-audit --prefix installed ${packages}`);
      project.run(`${NODE} --version`);
    } catch (error) {
      return `npm cannot install emmett or Node 24 here: ${String(error)}`;
    }
    const [from, to] = [project.path('installed/node_modules'), project.path('node_modules')];
    for (const name of readdirSync(from)) cpSync(join(from, name), join(to, name), { recursive: true });
    return undefined;
  });
  before(() => void project.run('tsc'));

  /** The number of tests that passed. */
  const passed = (output: string) => Number(/^# pass (\d+)$/m.exec(output)?.[1]);
  const test = 'node --test --test-reporter tap dist/orders/ dist/emmett-store/';

  it('pass their tests in memory', () => {
    expect(passed(project.run(test, { REDIS_URL: '' }))).to.be.above(15);
  });

  describeOwnRedis('on Redis', (startRedis) => {
    it('pass their tests', async () => {
      const { url, admin } = await startRedis();
      expect(passed(project.run(test, { REDIS_URL: url }))).to.be.above(15);
      expect(await admin.keys('emmett-*:accounts/*:events')).not.to.deep.equal([]);
    });
  });

  it('keep the contract in SQLite, and let the commands of the service use it', () => {
    const contract = `${NODE} --test --test-reporter tap dist/sqlite-store/contract.test.js`;
    expect(passed(project.run(contract))).to.be.greaterThan(40);
    const settings = { EVENT_STORE: './dist/sqlite-store/store.js', SQLITE_FILE: 'plants.db', REDIS_URL: '' };
    const plants = (command: string) =>
      project.run(
        `${NODE} --disable-warning=ExperimentalWarning node_modules/plant-store/dist/cli.js ${command}`,
        settings,
      );
    plants('create --user alice --id 1 --name Fern');
    expect(plants('list --user alice --ids')).to.equal('1\tFern\n');
    plants('events verify');
    plants('events erase --user alice --yes');
    expect(plants('list --user alice')).to.equal('');
  });
});
