/**
 * The commands for plants, and what all commands share: help, arguments, exit codes, interruption,
 * texts.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { expect } from 'chai';
import { escapeForTerminal, progressOn } from '../../../src/adapters/cli/terminal';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { OutcomeUnknown, StoreUnavailable, UnreadableHistory } from '../../../src/event-sourcing';
import { created } from '../../support/given';
import { ManualClock, untilIdle } from '../../support/manual-clock';
import { temporaryDirectory } from '../../support/temporary-directory';
import { type CliSetup, aStore, captured, record, rowsOf, runCli, startCli } from './fixture';

describe('The commands create, list and delete', () => {
  let store: MemoryEventStore;
  beforeEach(async () => {
    store = new MemoryEventStore();
    await record(store, 'plants/alice', [created(1, 'Moss')]);
  });
  const cli = (...typed: string[]) => runCli({ store }, ...typed);
  const FERN = 'create --user alice --id 9007199254740993 --name Fern --tag indoor';

  for (const [typed = '', out = '', error = ''] of rowsOf(`
    ${FERN}                                     | Fern\\tindoor\\n
    ${FERN} --json                              | {"name":"Fern","tag":"indoor"}\\n
    create --user=--x --id -7 --name=-          | -\\n
    create --user a --id 2 --name Fern --tag=   | Fern\\t""\\n
    create --user a --id 2 --name a\\nb --tag a\\tb | "a\\\\nb"\\t"a\\\\tb"\\n
    list --user alice                           | Moss\\nFern\\tindoor\\n
    list --user alice --limit 1                 | Moss\\n | There are more.\\n
    list --user alice --limit 0 --json          | []\\n
    list --user alice --json                    | [{"name":"Moss"},{"name":"Fern","tag":"indoor"}]\\n
    list --user alice --ids                     | 1\\tMoss\\n9007199254740993\\tFern\\tindoor\\n
    list --user alice --ids --limit=1 --json    | [{"id":"1","name":"Moss"}]\\n
    list --user bob                             |
    delete --user alice --id=1 --json           |`))
    it(`exit with 0 and print the result: ${typed}`, async () => {
      if (typed.startsWith('list')) await cli(FERN);
      expect(await cli(typed)).to.deep.equal({ code: 0, out, error });
    });

  const NO_SUCH_PLANT = 'alice has no plant with the id 9007199254740992';
  for (const [typed = '', error] of rowsOf(`
    create --user alice --id 1 --name Fern | plant-store: a living plant of alice has the id 1\\n
    delete --user alice --id 9007199254740992 --json | {"error":"refused","message":"${NO_SUCH_PLANT}"}\\n`))
    it(`exit with 1 and record nothing if a rule rejects the command: ${typed}`, async () => {
      await cli(FERN);
      expect(await cli(typed)).to.deep.equal({ code: 1, out: '', error });
      expect((await cli('list --user alice')).out).to.equal('Moss\nFern\tindoor\n');
    });
});

describe('A text for a terminal', () => {
  const invisible = Array.from('\n\t\u001b\u009b\u200e\u202e\ufeff\u00a0\u00ad\u{e0001}\ue000');
  it('is printed unchanged if nothing in it can mislead a reader, and as ASCII JSON otherwise', () => {
    for (const text of [
      '',
      ' ',
      'a ',
      ' a',
      'a  b',
      '"a"',
      ...invisible.map((each) => `a${each}b`),
    ]) {
      expect(escapeForTerminal(text)).to.match(/^"[ -~]*"$/);
      expect(JSON.parse(escapeForTerminal(text))).to.equal(text);
    }
    for (const text of ['Fern', 'Büschelfarn', '観葉植物', '🌵', "d'Or", 'a-b (c)'])
      expect(escapeForTerminal(text)).to.equal(text);
  });
});

describe('plant-store', () => {
  for (const [typed = '', has] of rowsOf(`
    --help        | 1                       refused by a rule, or a problem was found; the message\\n
    serve --help  | port to listen on (0 to 65535); default: 3000
    create --help | the owner, as in a token (required)
    help events   | Usage: plant-store events [options] [command]
    events import --help | Usage: plant-store events import [options] [file]
    --version     | 1.2.3`))
    it(`answers ${typed} with text that fits on one screen`, async () => {
      const { code, out, error } = await runCli({}, typed);
      expect({ code, error }).to.deep.equal({ code: 0, error: '' });
      expect(out).to.contain(has);
      expect(out.split('\n')).to.have.length.below(40);
    });

  for (const [typed = '', message] of rowsOf(`
    grow                      | unknown command 'grow'
    events exprot             | unknown command 'exprot'\\n(Did you mean export?)
    list --usr alice          | unknown option '--usr'\\n(Did you mean --user?)
    list --\\u001b[2J         | "unknown option '--\\\\u001b[2J'"
    list alice                | too many arguments for 'list'. Expected 0 arguments but got 1.
    create --name Fern --id 7 | --user <name> is required
    create --user --id 7      | --user needs a value; one that begins with - is written as --user=-…
    events export --user --user a | --user needs a value; one that begins with - is written as --user=-…
    events erase --yes --user a --user b | --user is given twice
    list --user=              | --user must be 1 to 255 characters of well-formed Unicode
    events verify --user a --user \ufffd | --user must be UTF-8
    create --name F\ufffdrn   | --name must be UTF-8
    create --user a --id 1 --name= | --name must be a string of at least one character, in well-formed Unicode
    delete --id 01            | --id must be a whole number from -2^63 to 2^63-1, without leading zeros
    list --user a --limit 1e2 | --limit must be a whole number from 0
    events tail --from=0      | --from must be a version from 1, start, or now
    events tail --from 3      | --from needs --user
    events erase --user alice | without a terminal, --yes is required as confirmation
    token new --user alice    | name the token file: --file, or AUTH_TOKENS_FILE`))
    it(`exits with 2 and prints the reason before it opens a store: ${JSON.stringify(typed)}`, async () => {
      const openStore = () => Promise.reject(new Error('it opens a store'));
      const error = `plant-store: ${message}\n`;
      expect(await runCli({ openStore }, typed)).to.deep.equal({ code: 2, out: '', error });
      const json = await runCli({ openStore }, `${typed} --json`);
      if (typed.startsWith('delete'))
        expect(JSON.parse(json.error)).to.deep.equal({ error: 'usage', message });
    });

  for (const typed of ['', 'events', 'token'])
    it(`prints the help if the command is incomplete: "${typed}"`, async () =>
      expect((await runCli({}, typed)).error).to.match(/^Usage: plant-store/));

  it('passes the options of serve to the service, and those of token new to the token file', async () => {
    const calls: unknown[] = [];
    const setup: CliSetup = {
      tokenFile: 'a.json',
      serve: async (options) => void calls.push(options),
      newToken: async (path, user, note, show) => (
        calls.push([path, user, note]),
        show('plants_secret')
      ),
    };
    for (const typed of ['serve --check-config', 'token new --user bob --file b.json'])
      expect(await runCli(setup, typed)).to.include({ code: 0 });
    const outcome = await runCli(setup, 'token new --user alice --note laptop');
    expect(outcome).to.deep.equal({ code: 0, out: 'plants_secret\n', error: '' });
    const tokens = [['b.json', 'bob', undefined], ['a.json', 'alice', 'laptop']]; // prettier-ignore
    expect(calls).to.deep.equal([{ checkConfig: true }, ...tokens]);
  });

  for (const [typed = '', effect] of rowsOf(`
    create --user a --id 1 --name b | ; the plant was created
    list --user alice               |
    token new --user a --file b     | ; no token was made
    events erase --user alice --yes | ; the events were erased
    --help                          |`))
    it(`reports that standard output is full, and what the command has done: ${typed}`, async () => {
      const store = new MemoryEventStore();
      await record(store, 'plants/alice', [created(1, 'Moss')]);
      const stdout = new Writable({
        write: (_chunk, _encoding, done) => done(new Error('ENOSPC: full')),
      });
      const error = `plant-store: standard output: ENOSPC: full${effect}\n`;
      expect(await runCli({ store, stdout }, typed)).to.deep.equal({ code: 1, out: '', error });
    });

  const cause = new Error('LOADING', { cause: new Error('::1') });
  const away = new StoreUnavailable('no answer', { cause });
  for (const [code, failure, message] of [
    [3, away, 'the event store is unavailable: no answer (LOADING (::1))\n'],
    [4, new OutcomeUnknown('no reply'), 'the outcome is unknown: no reply\n'],
    [1, new UnreadableHistory('event 8 is wrong'), 'event 8 is wrong\n'],
    [70, new TypeError('a bug'), 'TypeError: a bug\n    at '],
    [70, Object.create(null) as Error, 'a thrown value without a text\n'],
  ] as const)
    it(`exits with ${code} and prints: ${message.split('\n')[0]}`, async () => {
      const outcome = await runCli({ openStore: () => Promise.reject(failure) }, 'list --user a');
      expect(outcome.code).to.equal(code);
      expect(outcome.error.startsWith(`plant-store: ${message}`), outcome.error).to.equal(true);
    });

  it('prints each error that an AggregateError contains', async () => {
    const bug = new AggregateError([new Error('::1'), new Error('127.0.0.1')]);
    const { error } = await runCli({ openStore: () => Promise.reject(bug) }, 'list --user a');
    for (const message of ['::1', '127.0.0.1']) expect(error).to.contain(`Error: ${message}\n`);
  });

  it('prints its progress as a plain line every five seconds, unless it is quiet', async () => {
    for (const [total, quiet, ...lines] of [
      [2000, false, '1,000 of 2,000 events (50 %)'],
      [800, false, '1,000 of 800 events (100 %)'],
      [0, false, '1,000 events'],
      [0, true],
    ] as [total: number, quiet: boolean, ...lines: string[]][]) {
      const [stderr, clock] = [captured(), new ManualClock()];
      const advance = progressOn({ stderr } as never, clock, 'events', total, quiet);
      for (let second = 1; second <= 12; second++) {
        await clock.pass(1000);
        advance(second * 100);
      }
      expect(stderr.text.split('\n').slice(1, -1), String(total)).to.deep.equal(lines);
    }
  });
});

describe('A command that is interrupted', () => {
  const path = temporaryDirectory();
  const never = () => new Promise<never>(() => {});
  const without = (...calls: string[]) =>
    Object.assign(new MemoryEventStore(), Object.fromEntries(calls.map((call) => [call, never])));
  const SETUPS: Readonly<Record<string, () => CliSetup>> = {
    'the store never opens': () => ({ openStore: never }),
    'no store call ever returns': () => ({ store: without('read', 'append', 'head', 'changed') }),
    'only the index answers': () => ({
      store: without('read', 'append', 'erase'),
      stdin: new PassThrough(),
    }),
  };
  const again = 'interrupted; repeat the command, which';
  const unknown = 'interrupted; it is unknown whether';
  const check = 'check, or repeat the command';

  for (const [typed = '', when = '', text = ''] of rowsOf(`
    events tail                 | the store never opens      | interrupted
    list --user a               | no store call ever returns | interrupted
    events verify               | no store call ever returns | interrupted
    events export               | no store call ever returns | interrupted
    create --user a --id 1 --name b | no store call ever returns | ${unknown} the plant was created: ${check}
    delete --user a --id 1      | no store call ever returns | ${unknown} the plant was deleted: ${check}
    events tail                 | no store call ever returns |
    events tail --user a        | no store call ever returns |
    events erase --user a --yes | no store call ever returns | interrupted; nothing was erased
    events erase --user a --yes | only the index answers     | ${again} erases what is left
    events import               | only the index answers     | ${again} imports what is missing`))
    it(`exits with 130 after SIGINT and with 143 after SIGTERM: ${typed} (${when})`, async () => {
      for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
        const interrupted = new AbortController();
        const { outcome } = startCli(
          { ...SETUPS[when]!(), interrupted: interrupted.signal },
          typed,
        );
        await untilIdle();
        interrupted.abort(signal);
        const error = text === '' ? '' : `plant-store: ${text}\n`;
        expect(await outcome).to.deep.equal({ code, out: '', error });
      }
    });

  it('leaves an existing export file unchanged, and removes its draft', async () => {
    const store = without('read');
    await record(store, 'plants/alice', [created(1, 'Moss')]);
    writeFileSync(path('out'), 'an earlier export');
    const interrupted = new AbortController();
    const setup = { store, interrupted: interrupted.signal };
    const { outcome } = startCli(setup, 'events export --quiet -o', path('out'));
    while (readdirSync(path('')).length < 2) await untilIdle();
    interrupted.abort('SIGTERM');
    const error = `plant-store: interrupted; ${path('out')} is unchanged\n`;
    expect(await outcome).to.deep.equal({ code: 143, out: '', error });
    expect(readdirSync(path(''))).to.deep.equal(['out']);
    expect(readFileSync(path('out'), 'utf8')).to.equal('an earlier export');
  });
});

describe('The command line for kinds of another package', () => {
  it('offers only the commands for events', async () => {
    const { code, out } = await runCli(
      { onlyEvents: true, store: await aStore() },
      'events export -q --user alice',
    );
    expect([code, out.includes('"stream":"jars/alice"')]).to.deep.equal([0, true]);
    for (const command of ['serve', 'create', 'list', 'token new'])
      expect(await runCli({ onlyEvents: true }, command)).to.include({ code: 2, out: '' });
    expect((await runCli({ onlyEvents: true }, '--help')).out).not.to.include('serve  ');
  });
});
