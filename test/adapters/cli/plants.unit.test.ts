import { streamName } from '../../../src/testing/a-stream';
import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { BEGINNING, StoreUnavailable } from '../../../src/event-sourcing';
import { created, encoded, plantEventOf } from '../../support/given';
import { runCli } from './cli-fixture';

describe('The commands create, list and delete', () => {
  let store: MemoryEventStore;
  const cli = (...typed: string[]) => runCli({ store }, ...typed);
  const alice = ['--user', 'alice'];
  const fern = ['--id', '7', '--name', 'Fern', '--tag', 'indoor'];

  beforeEach(async () => {
    store = new MemoryEventStore();
    await store.append(streamName('alice'), BEGINNING, 'a commit', encoded(created(1, 'Moss')));
  });

  it('create a plant, and print it', async () => {
    expect(await cli('create', ...alice, ...fern)).to.deep.equal({
      code: 0,
      out: 'Fern\tindoor\n',
      error: '',
    });
    const history = await store.read(streamName('alice'), BEGINNING);
    expect(history.status === 'read' && plantEventOf(history.events[1]!)).to.deep.equal(
      created(7, 'Fern', 'indoor'),
    );
  });

  it('list plants in order of creation, up to the limit', async () => {
    await cli('create', ...alice, ...fern);
    expect(await cli('list', ...alice)).to.deep.equal({ code: 0, out: 'Moss\nFern\tindoor\n', error: '' });
    expect(await cli('list', ...alice, '--limit', '1')).to.include({
      out: 'Moss\n',
      error: 'There are more.\n',
    });
    expect(await cli('list', '--user', 'bob')).to.deep.equal({ code: 0, out: '', error: '' });
  });

  it('delete a plant, and print nothing', async () => {
    expect(await cli('delete', ...alice, '--id=1')).to.deep.equal({ code: 0, out: '', error: '' });
    expect(await cli('list', ...alice)).to.include({ out: '' });
  });

  it('print the JSON of the HTTP interface with --json', async () => {
    expect((await cli('create', ...alice, ...fern, '--json')).out).to.equal(
      '{"name":"Fern","tag":"indoor"}\n',
    );
    expect((await cli('list', ...alice, '--json')).out).to.equal(
      '[{"name":"Moss"},{"name":"Fern","tag":"indoor"}]\n',
    );
  });

  it('list the ids first with --ids, as strings in JSON', async () => {
    await cli('create', ...alice, '--id', '9007199254740993', '--name', 'Fern', '--tag', 'indoor');
    expect((await cli('list', ...alice, '--ids')).out).to.equal('1\tMoss\n9007199254740993\tFern\tindoor\n');
    expect((await cli('list', ...alice, '--ids', '--limit=1', '--json')).out).to.equal(
      '[{"id":"1","name":"Moss"}]\n',
    );
    expect((await cli('list', ...alice, '--ids', '--limit=0', '--json')).out).to.equal('[]\n');
  });

  it('keep every digit of an id', async () => {
    for (const id of ['9007199254740993', '9007199254740992', '-9223372036854775808'])
      expect(await cli('create', ...alice, `--id=${id}`, '--name', 'Fern')).to.include({ code: 0 });
    expect(await cli('delete', ...alice, '--id', '9007199254740993')).to.include({ code: 0 });
    expect(await cli('delete', ...alice, '--id', '9007199254740992')).to.include({ code: 0 });
  });

  it('exit with 1 when a rule refuses the command', async () => {
    const before = await store.read(streamName('alice'), BEGINNING);
    expect(await cli('create', ...alice, '--id', '1', '--name', 'Fern')).to.deep.equal({
      code: 1,
      out: '',
      error: 'plant-store: a living plant of alice has the id 1\n',
    });
    expect(await cli('delete', ...alice, '--id', '2', '--json')).to.deep.equal({
      code: 1,
      out: '',
      error: '{"error":"refused","message":"alice has no plant with the id 2"}\n',
    });
    expect(await store.read(streamName('alice'), BEGINNING)).to.deep.equal(before);
  });

  describe('exit with 2 and change nothing when the command line', () => {
    for (const [why, typed, says] of [
      ['names no user', ['create', ...fern], '--user NAME is required'],
      ['has an empty user', ['list', '--user', ''], '--user must be 1 to 255 characters'],
      ['has an id like 01', ['create', ...alice, '--id', '01', '--name', 'Fern'], '--id must be'],
      ['has an id beyond int64', ['delete', ...alice, '--id', '9223372036854775808'], '--id must be'],
      [
        'has an empty name',
        ['create', ...alice, '--id', '1', '--name', ''],
        '--name must be a string of at least one character',
      ],
      ['has a user that is not UTF-8', ['list', '--user', 'al\ufffdice'], '--user must be UTF-8'],
      [
        'has a name that is not UTF-8',
        ['create', ...alice, '--id', '1', '--name', 'F\ufffdrn'],
        '--name must be UTF-8',
      ],
      ['has a limit like 1e2', ['list', ...alice, '--limit', '1e2'], '--limit must be a whole number from 0'],
      ['has the same option twice', ['list', ...alice, ...alice], '--user is given twice'],
      ['has an unknown option', ['list', ...alice, '--all'], 'unknown option --all'],
      ['has a positional argument', ['list', ...alice, 'bob'], 'unexpected argument: "bob"'],
    ] as const) {
      it(why, async () => {
        const { code, out, error } = await cli(...typed);
        expect({ code, out }).to.deep.equal({ code: 2, out: '' });
        expect(error).to.contain(says).and.to.contain(`plant-store ${typed[0]} --help`);
      });
    }
  });

  it('escape control and invisible characters in names', async () => {
    const odd = ['\u001b[2J', 'a\tb', 'line\nbreak', '\u009b31m', '\u202egnp', '"quoted"', ' blank', 'a  b'];
    for (const [index, name] of odd.entries())
      await cli('create', ...alice, '--id', `${index + 2}`, '--name', name);
    const { out } = await cli('list', ...alice);
    const lines = out.trimEnd().split('\n');
    expect(lines).to.have.length(odd.length + 1);
    expect(out).to.match(/^[!-~ \n]*$/);
    expect(lines.slice(1).map((line) => JSON.parse(line) as string)).to.deep.equal(odd);
    await cli('create', ...alice, '--id', '100', '--name', 'Büschelfarn 🌵 観葉植物');
    expect((await cli('list', ...alice)).out).to.contain('\nBüschelfarn 🌵 観葉植物\n');
  });

  it('exit with 3 when the store is unavailable, 4 when the outcome is unknown, 70 with a stack at a bug', async () => {
    const failing = (error: Error) => {
      store.append = async () => Promise.reject(error);
      return cli('create', ...alice, ...fern);
    };
    const away = await failing(new StoreUnavailable('away', { cause: new Error('ECONNREFUSED') }));
    expect(away).to.deep.equal({
      code: 3,
      out: '',
      error: 'plant-store: the event store is unavailable: away (ECONNREFUSED)\n',
    });
    expect(await failing(new TypeError('after it was sent, perhaps'))).to.include({ code: 4 });
    store.read = async () => Promise.reject(new TypeError('undefined is no plant'));
    const bug = await cli('list', ...alice);
    expect(bug).to.include({ code: 70 });
    expect(bug.error).to.match(/TypeError: undefined is no plant\n +at /);
  });
});
