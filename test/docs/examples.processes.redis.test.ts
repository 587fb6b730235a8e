import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pendingIf } from '../support/programs';
import { describeOwnRedis } from '../support/redis';
import { type Project, newProject } from './samples';

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

  const PASSED = /^# pass [1-9]\d/m;
  const test = '--test --test-reporter tap';
  const orders = `node ${test} dist/orders/ dist/emmett-store/`;

  it('pass their tests in memory', () => {
    expect(project.run(orders, { REDIS_URL: '' })).to.match(PASSED);
  });

  describeOwnRedis('on Redis', (startRedis) => {
    it('pass their tests', async () => {
      const { url, admin } = await startRedis();
      expect(project.run(orders, { REDIS_URL: url })).to.match(PASSED);
      expect(await admin.keys('emmett-*:accounts/*:events')).not.to.deep.equal([]);
      const [REDIS_KEY_PREFIX] = /^orders-[^:]*/.exec((await admin.keys('orders-*'))[0]!)!;
      const settings = { EVENT_STORE: 'redis', REDIS_URL: url, REDIS_KEY_PREFIX };
      const command = 'node dist/orders/events.js events';
      const out = project.run(`${command} verify -q && ${command} export -q --user other`, settings);
      expect(out).to.include('"stream":"orders/other"').and.to.include('"type":"OrderPlaced"');
    });
  });

  it('keep the contract in SQLite, and let the commands of the service use it', () => {
    expect(project.run(`${NODE} ${test} dist/sqlite-store/contract.test.js`)).to.match(PASSED);
    const settings = { EVENT_STORE: './dist/sqlite-store/store.js', SQLITE_FILE: 'plants.db', REDIS_URL: '' };
    const cli = `${NODE} --disable-warning=ExperimentalWarning node_modules/plant-store/dist/cli.js`;
    const tour = ['create --user alice --id 1 --name Fern', 'list --user alice --ids', 'events verify -q'];
    const commands = [...tour, 'events erase --user alice --yes', 'list --user alice'];
    const out = project.run(commands.map((command) => `${cli} ${command}`).join(' && '), settings);
    expect(out).to.equal('Fern\n1\tFern\nErased 1 event of alice.\n');
  });
});
