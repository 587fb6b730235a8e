import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { BEGINNING, StoreUnavailable } from '../../../src/application';
import { created } from '../../support/given';
import { carryOut } from './a-terminal';

describe('On the command line, a user’s plants', () => {
  let store: MemoryEventStore;
  const type = (...typed: string[]) => carryOut({ store }, ...typed);
  const alice = ['--user', 'alice'];
  const fern = ['--id', '7', '--name', 'Fern', '--tag', 'indoor'];

  beforeEach(async () => {
    store = new MemoryEventStore();
    await store.append('alice', BEGINNING, 'a commit', [created(1, 'Moss')]);
  });

  it('are created, and printed as they came out', async () => {
    expect(await type('create', ...alice, ...fern)).to.deep.equal({
      code: 0,
      out: 'Fern\tindoor\n',
      error: '',
    });
    const history = await store.read('alice', BEGINNING);
    expect(history.status === 'read' && history.events[1]!.event).to.deep.equal(created(7, 'Fern', 'indoor'));
  });

  it('are listed in order of creation, up to the limit', async () => {
    await type('create', ...alice, ...fern);
    expect(await type('list', ...alice)).to.deep.equal({ code: 0, out: 'Moss\nFern\tindoor\n', error: '' });
    expect(await type('list', ...alice, '--limit', '1')).to.include({
      out: 'Moss\n',
      error: 'There are more.\n',
    });
    expect(await type('list', '--user', 'bob')).to.deep.equal({ code: 0, out: '', error: '' });
  });

  it('are deleted, and nothing is said', async () => {
    expect(await type('delete', ...alice, '--id=1')).to.deep.equal({ code: 0, out: '', error: '' });
    expect(await type('list', ...alice)).to.include({ out: '' });
  });

  it('are printed as JSON with --json, like the service does', async () => {
    expect((await type('create', ...alice, ...fern, '--json')).out).to.equal(
      '{"name":"Fern","tag":"indoor"}\n',
    );
    expect((await type('list', ...alice, '--json')).out).to.equal(
      '[{"name":"Moss"},{"name":"Fern","tag":"indoor"}]\n',
    );
  });

  it('have ids that are exact', async () => {
    for (const id of ['9007199254740993', '9007199254740992', '-9223372036854775808'])
      expect(await type('create', ...alice, `--id=${id}`, '--name', 'Fern')).to.include({ code: 0 });
    expect(await type('delete', ...alice, '--id', '9007199254740993')).to.include({ code: 0 });
    expect(await type('delete', ...alice, '--id', '9007199254740992')).to.include({ code: 0 });
  });

  it('are refused with exit code 1 where a rule says so', async () => {
    const before = await store.read('alice', BEGINNING);
    expect(await type('create', ...alice, '--id', '1', '--name', 'Fern')).to.deep.equal({
      code: 1,
      out: '',
      error: 'plant-store: a living plant of alice has the id 1\n',
    });
    expect(await type('delete', ...alice, '--id', '2', '--json')).to.deep.equal({
      code: 1,
      out: '',
      error: '{"error":"refused","message":"alice has no plant with the id 2"}\n',
    });
    expect(await store.read('alice', BEGINNING)).to.deep.equal(before);
  });

  describe('are not touched, exit code 2, where what was typed', () => {
    for (const [why, typed, says] of [
      ['names no user', ['create', ...fern], '--user NAME is required'],
      ['names nobody', ['list', '--user', ''], '--user must be 1 to 255 characters'],
      ['has an id like 01', ['create', ...alice, '--id', '01', '--name', 'Fern'], '--id must be'],
      ['has an id beyond int64', ['delete', ...alice, '--id', '9223372036854775808'], '--id must be'],
      ['has an empty name', ['create', ...alice, '--id', '1', '--name', ''], '--name must have'],
      ['was not UTF-8', ['list', '--user', 'al\ufffdice'], '--user must be UTF-8'],
      ['was not UTF-8', ['create', ...alice, '--id', '1', '--name', 'F\ufffdrn'], '--name must be UTF-8'],
      ['has a limit like 1e2', ['list', ...alice, '--limit', '1e2'], '--limit must be a whole number from 0'],
      ['has the same option twice', ['list', ...alice, ...alice], '--user is given twice'],
      ['has an option that there is not', ['list', ...alice, '--all'], "Unknown option '--all'"],
      ['has an argument too many', ['list', ...alice, 'bob'], 'one argument too many: "bob"'],
    ] as const) {
      it(why, async () => {
        const { code, out, error } = await type(...typed);
        expect({ code, out }).to.deep.equal({ code: 2, out: '' });
        expect(error).to.contain(says).and.to.contain(`plant-store ${typed[0]} --help`);
      });
    }
  });

  it('do nothing to the terminal, whatever they are called', async () => {
    const odd = ['\u001b[2J', 'a\tb', 'line\nbreak', '\u009b31m', '\u202egnp', '"quoted"', ' blank', 'a  b'];
    for (const [index, name] of odd.entries())
      await type('create', ...alice, '--id', `${index + 2}`, '--name', name);
    const { out } = await type('list', ...alice);
    const lines = out.trimEnd().split('\n');
    expect(lines).to.have.length(odd.length + 1);
    expect(out).to.match(/^[!-~ \n]*$/);
    expect(lines.slice(1).map((line) => JSON.parse(line) as string)).to.deep.equal(odd);
    await type('create', ...alice, '--id', '100', '--name', 'Büschelfarn 🌵 観葉植物');
    expect((await type('list', ...alice)).out).to.contain('\nBüschelfarn 🌵 観葉植物\n');
  });

  it('end with exit code 3 where the store is away, 4 where the outcome is unknown, 70 with a stack at a bug', async () => {
    const failing = (error: Error) => {
      store.append = async () => Promise.reject(error);
      return type('create', ...alice, ...fern);
    };
    const away = await failing(new StoreUnavailable('away', { cause: new Error('ECONNREFUSED') }));
    expect(away).to.deep.equal({
      code: 3,
      out: '',
      error: 'plant-store: the event store is unavailable: away (ECONNREFUSED)\n',
    });
    expect(await failing(new TypeError('after it was sent, perhaps'))).to.include({ code: 4 });
    store.read = async () => Promise.reject(new TypeError('undefined is no plant'));
    const bug = await type('list', ...alice);
    expect(bug).to.include({ code: 70 });
    expect(bug.error).to.match(/TypeError: undefined is no plant\n +at /);
  });
});
