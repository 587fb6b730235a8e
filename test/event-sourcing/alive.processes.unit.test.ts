/**
 * What keeps a process alive while its store has no open socket: what is awaited, and nothing else.
 */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { compiled } from '../support/compiled';

/**
 * Each script gets these names. `lost` is a call whose reply never comes, `away` one that is
 * refused.
 */
const NAMES = `
const { Aggregates, BEGINNING, StoreUnavailable, jsonCodec, project, subscribe } = require('./event-sourcing');
const { MemoryCheckpoints, MemoryEventStore } = require('./adapters/memory');
const { system } = require('./adapters/system');
const codec = jsonCodec({ Added: {} });
const decide = () => ({ events: [{ type: 'Added' }] });
const kind = { category: 'sums', codec, decider: { initialState: () => 0, decide, evolve: (sum) => sum + 1 } };
const lost = () => new Promise(() => {});
const away = async () => { throw new StoreUnavailable(); };
const sums = (store, timeoutMs = 300) => new Aggregates({ ...system(), store, timeoutMs });
const name = ({ name }) => name;
const memory = new MemoryEventStore();
let calls = 0;
`;

const SCRIPTS: Readonly<Record<string, readonly [script: string, output: string]>> = {
  'a query without a reply': [
    `sums({ read: lost }).query(kind, 'a', String).catch(name).then(console.log)`,
    'StoreUnavailable',
  ],
  'a command without a reply': [
    `sums({ append: lost }).execute(kind, 'a', 1).catch(name).then(console.log)`,
    'OutcomeUnknown',
  ],
  'a subscription that is awaited': [
    `memory.append('a', BEGINNING, 'c', [{ type: 'Added', data: '{}' }]);
     const read = (...args) => (++calls < 4 ? away() : memory.read(...args));
     subscribe({ store: { read } }, 'a', BEGINNING, { ...system(), codec }).next()
       .then(({ value }) => console.log(value.commit));`,
    'c',
  ],
  'a projection that is not closed': [
    `memory.changed = () => (++calls < 4 ? away() : close());
     const close = () => (projection.close().then(() => console.log('closed')), lost());
     const projection = project({ store: memory, index: memory }, {
       ...system(), kinds: [kind], checkpoint: new MemoryCheckpoints(), apply() {}, observe() {},
     });`,
    'closed',
  ],
};

describe('A process', () => {
  before('compile the engine', function () {
    this.timeout(300_000);
    compiled();
  });

  /** Resolves with the output of a script that must end by itself. */
  function run(script: string): string {
    const cwd = `${compiled()}/dist`;
    const options = { cwd, encoding: 'utf8', timeout: 30_000 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', NAMES + script], options);
    expect(status, stderr).to.equal(0);
    return stdout.trim();
  }

  for (const [what, [script, output]] of Object.entries(SCRIPTS))
    it(`is kept alive by ${what}`, () => {
      expect(run(script)).to.equal(output);
    });

  it('is not kept alive by idle aggregates and subscriptions', () => {
    const idle = `subscribe({ store: memory }, 'a', BEGINNING, { ...system(), codec });`;
    const query = `sums(memory, 1e6).query(kind, 'a', String).then(console.log);`;
    expect(run(idle + query)).to.equal('0');
  });
});
