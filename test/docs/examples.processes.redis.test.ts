import { spawn } from 'node:child_process';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openRedisEventStore } from '../../src/adapters/redis';
import { BEGINNING, type EventStore, streamOf } from '../../src/event-sourcing';
import { describePostgres, query } from '../support/postgres';
import { pendingIf } from '../support/programs';
import { describeRedis } from '../support/redis';
import { TestProcess } from '../support/service-process';
import { until } from '../support/until';
import { type Project, newProject } from './samples';

/** Not among the packages of this project: the test installs them. */
const OWN = ['@event-driven-io/emmett', '@types/node'];

/** A Node with `node:sqlite`. */
const NODE =
  Number(process.versions.node.split('.')[0]) >= 24 ? 'node' : 'npx --yes --package node@24 node';

describe('docs/examples', function () {
  this.timeout(300_000);
  let project: Project;

  pendingIf(() => {
    project = newProject('examples');
    cpSync('docs/examples', project.path('.'), { recursive: true });
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync('docs/examples/package.json', 'utf8'),
    );
    const versions = { ...dependencies, ...devDependencies } as Record<string, string>;
    const packages = OWN.map((name) => `'${name}@${versions[name]}'`).join(' ');
    try {
      project.run(
        `npm install --no-save --no-package-lock --no-audit --prefix installed ${packages}`,
      );
      project.run(`${NODE} --version`);
    } catch (error) {
      return `npm cannot install emmett or Node 24 here: ${String(error)}`;
    }
    const [from, to] = [project.path('installed/node_modules'), project.path('node_modules')];
    for (const name of readdirSync(from))
      cpSync(join(from, name), join(to, name), { recursive: true });
    return undefined;
  });
  before(() => void project.run('tsc'));

  const PASSED = /^# pass [1-9]\d/m;
  const test = '--test --test-reporter tap';
  const withStore = `node ${test} dist/orders/ dist/emmett-store/ dist/grpc/`;
  const withPostgres = `node ${test} dist/postgres-read-model/`;

  it('pass their tests in memory', () => {
    expect(project.run(withStore, { REDIS_URL: '' })).to.match(PASSED);
  });

  describePostgres('with PostgreSQL', (startPostgres) => {
    it('pass their tests in memory', async () => {
      const POSTGRES_URL = (await startPostgres()).url;
      expect(project.run(withPostgres, { REDIS_URL: '', POSTGRES_URL })).to.match(PASSED);
    });
  });

  describeRedis('on Redis', (startRedis) => {
    it('pass their tests', async () => {
      const { url, admin } = await startRedis();
      expect(project.run(withStore, { REDIS_URL: url })).to.match(PASSED);
      expect(await admin.keys('emmett-*:accounts/*:events')).not.to.deep.equal([]);
      const [REDIS_KEY_PREFIX] = /^orders-[^:]*/.exec((await admin.keys('orders-*'))[0]!)!;
      const settings = { EVENT_STORE: 'redis', REDIS_URL: url, REDIS_KEY_PREFIX };
      const command = 'node dist/orders/events.js events';
      const out = project.run(
        `${command} verify -q && ${command} export -q --user other`,
        settings,
      );
      expect(out).to.include('"stream":"orders/other"').and.to.include('"type":"OrderPlaced"');
    });

    describePostgres('with PostgreSQL', (startPostgres) => {
      it('pass their tests', async () => {
        const [REDIS_URL, POSTGRES_URL] = [(await startRedis()).url, (await startPostgres()).url];
        expect(project.run(withPostgres, { REDIS_URL, POSTGRES_URL })).to.match(PASSED);
      });
    });

    describePostgres('with a PostgreSQL that is killed', (startPostgres) => {
      let worker: TestProcess | undefined;
      afterEach(() => worker?.kill());

      it('apply each event exactly once', async () => {
        const [redis, postgres] = [await startRedis(), await startPostgres()];
        const env = { ...process.env, REDIS_URL: redis.url, POSTGRES_URL: postgres.url };
        const main = project.path('dist/postgres-read-model/main.js');
        const start = () => new TestProcess(spawn(process.execPath, [main], { env }));
        const rows = (sql: string) => query(postgres.url, sql).catch(() => []);
        const applied = async () =>
          Number((await rows('SELECT sum(version)::int AS events FROM heads'))[0]?.['events'] ?? 0);
        const opened = await openRedisEventStore({ url: redis.url, keyPrefix: 'orders' });
        worker = start();
        const sold = new Sales(opened.store);
        for (const killed of ['postgres', 'both', 'postgres', 'worker', 'both', 'postgres']) {
          const before = await applied();
          const selling = sold.sell();
          // While events come, at any moment of a batch, but not while the worker is starting: it
          // ends if there is no PostgreSQL then.
          await until(async () => (await applied()) > before);
          await pause(Math.random() * 500);
          if (killed !== 'worker') await postgres.kill9();
          if (killed !== 'postgres') await worker.kill();
          if (killed !== 'worker') await postgres.start();
          if (killed !== 'postgres') worker = start();
          await selling;
        }
        const allApplied = () => until(async () => (await applied()) === sold.events);
        await allApplied();
        // While its connections are idle.
        await postgres.kill9();
        await postgres.start();
        await sold.sell();
        opened.close();
        await allApplied();
        await until(async () => (await rows('SELECT FROM sales')).length > 0);
        expect(await rows('SELECT * FROM sales ORDER BY article')).to.deep.equal(sold.rows);
        worker.signal('SIGTERM');
        expect((await worker.ended).code).to.equal(0);
      });
    });
  });

  it('satisfy the contract with SQLite, and let the commands of the service use that store', () => {
    expect(project.run(`${NODE} ${test} dist/sqlite-store/contract.test.js`)).to.match(PASSED);
    const settings = {
      EVENT_STORE: './dist/sqlite-store/store.js',
      SQLITE_FILE: 'plants.db',
      REDIS_URL: '',
    };
    const cli = `${NODE} --disable-warning=ExperimentalWarning node_modules/plant-store/dist/cli.js`;
    const tour = [
      'create --user alice --id 1 --name Fern',
      'list --user alice --ids',
      'events verify -q',
    ];
    const commands = [...tour, 'events erase --user alice --yes', 'list --user alice'];
    const out = project.run(commands.map((command) => `${cli} ${command}`).join(' && '), settings);
    expect(out).to.equal('Fern\n1\tFern\nErased 1 event of alice.\n');
  });
});

/** Orders whose lines come one by one, and what they sum up to. */
class Sales {
  /** The number of all events. */
  events = 0;
  readonly #sold = [0, 0, 0];
  readonly #heads = Array.from({ length: 40 }, () => BEGINNING);

  constructor(private readonly store: EventStore) {}

  /**
   * Adds 75 lines to each order, which takes one or two seconds. As many as fit into a time would be
   * more than a busy machine can apply.
   */
  async sell(): Promise<void> {
    await Promise.all(
      this.#heads.map(async (_, order) => {
        for (let line = 0; line < 75; line++) await this.#addLine(order);
      }),
    );
  }

  async #addLine(order: number): Promise<void> {
    const quantity = ++this.events;
    const article = quantity % this.#sold.length;
    const event = {
      type: 'LineAdded',
      data: JSON.stringify({ article: `a${article}`, quantity, price: 2 }),
    };
    const name = streamOf('orders', `order ${order}`);
    const result = await this.store.append(name, this.#heads[order]!, `commit ${quantity}`, [
      event,
    ]);
    if (result.status !== 'appended') throw new Error(result.status);
    this.#heads[order] = result.head;
    this.#sold[article]! += quantity;
  }

  get rows() {
    return this.#sold.map((quantity, article) => ({
      article: `a${article}`,
      quantity: String(quantity),
      cents: String(2 * quantity),
    }));
  }
}
