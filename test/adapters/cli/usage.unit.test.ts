/** What all commands share: help, arguments, exit codes, interruption, progress, texts for a terminal. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { EXIT, Refused, failureOf } from '../../../src/adapters/cli/exit';
import { escapeForTerminal, progressOn } from '../../../src/adapters/cli/terminal';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import {
  HistoryChanged,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from '../../../src/event-sourcing';
import { ManualClock, untilIdle } from '../../support/manual-clock';
import { temporaryDirectory } from '../../support/temporary-directory';
import { Captured, type CliSetup, rowsOf, runCli, startCli } from './fixture';

const COMMANDS = [
  ...['create', 'list', 'delete', 'events export', 'events import', 'events tail', 'events verify'],
  ...['events erase', 'events store-id', 'token new'],
];

describe('plant-store', () => {
  for (const [typed = '', has] of [
    ...COMMANDS.map((name) => [`${name} --help`, `Usage: plant-store ${name} [options]`]),
    ...rowsOf(`
      --help        | create [options]
      serve --help  | port to listen on (0 to 65535); default: 3000
      create --help | the owner, as in a token (required)
      help events   | Usage: plant-store events [options] [command]
      --version     | 1.2.3`),
  ])
    it(`answers ${typed} on one screen`, async () => {
      const { code, out, error } = await runCli({}, typed);
      expect({ code, error }).to.deep.equal({ code: 0, error: '' });
      expect(out).to.contain(has);
      expect(out.split('\n')).to.have.length.below(40);
    });

  it('lists all exit codes, in 80 columns', async () => {
    const { out } = await runCli({}, '--help');
    for (const { code, description } of Object.values(EXIT))
      expect(out).to.match(new RegExp(`^ +${code} +${description.slice(0, 10)}`, 'm'));
    expect(Math.max(...out.split('\n').map(({ length }) => length))).to.be.at.most(80);
  });

  for (const [typed = '', message] of rowsOf(`
    grow                      | unknown command 'grow'
    lst                       | unknown command 'lst'\\n(Did you mean list?)
    events exprot             | unknown command 'exprot'\\n(Did you mean export?)
    list --usr alice          | unknown option '--usr'\\n(Did you mean --user?)
    list --\\u001b[2J         | "unknown option '--\\\\u001b[2J'"
    list alice                | too many arguments for 'list'. Expected 0 arguments but got 1.
    events import a b         | too many arguments for 'import'. Expected 1 argument but got 2.
    create --name Fern --id 7 | --user <name> is required
    create --user --id 7      | --user needs a value; one that begins with - is written as --user=-…
    events export --user --user a | --user needs a value; one that begins with - is written as --user=-…
    create --id 7 --id 8      | --id is given twice
    events erase --yes --user a --user b | --user is given twice
    list --user=              | --user must be 1 to 255 characters of well-formed Unicode
    events verify --user a --user \ufffd | --user must be UTF-8
    create --name F\ufffdrn   | --name must be UTF-8
    create --user a --id 1 --name= | --name must be a string of at least one character, in well-formed Unicode
    delete --id 01            | --id must be a whole number from -2^63 to 2^63-1, without leading zeros
    delete --id 9223372036854775808 | --id must be a whole number from -2^63 to 2^63-1, without leading zeros
    list --user a --limit 1e2 | --limit must be a whole number from 0
    events tail --from=0      | --from must be a version from 1, start, or now
    events tail --from=1.0    | --from must be a version from 1, start, or now
    events tail --from=end    | --from must be a version from 1, start, or now
    events tail --from 3      | --from needs --user
    events erase --user alice | without a terminal, --yes is required as confirmation
    token new --user alice    | name the token file: --file, or AUTH_TOKENS_FILE
    token new --file a.json   | --user <name> is required`))
    it(`exits with 2 and says why, before it opens a store: ${JSON.stringify(typed)}`, async () => {
      const openStore = () => Promise.reject(new Error('it opens a store'));
      const expected = { code: 2, out: '', error: `plant-store: ${message}\n` };
      expect(await runCli({ openStore }, typed)).to.deep.equal(expected);
    });

  it('prints its errors as JSON with --json', async () => {
    const error = '{"error":"usage","message":"--id is required"}\n';
    expect(await runCli({}, 'delete --user a --json')).to.include({
      error: error.replace('--id', '--id <id>'),
    });
  });

  for (const typed of ['', 'events', 'token'])
    it(`exits with 2 and prints the help where a command is missing: "${typed}"`, async () => {
      const { code, out, error } = await runCli({}, typed);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(error).to.match(/^Usage: plant-store/);
    });

  it('passes options to serve, and the parts of a token to the token file', async () => {
    const calls: unknown[] = [];
    const setup: CliSetup = {
      tokenFile: 'a.json',
      serve: async (options) => void calls.push(options),
      newToken: async (path, user, note, show) => (calls.push([path, user, note]), show('plants_secret')),
    };
    expect(await runCli(setup, 'serve --check-config')).to.include({ code: 0 });
    const created = await runCli(setup, 'token new --user alice --note laptop');
    expect(created).to.deep.equal({ code: 0, out: 'plants_secret\n', error: '' });
    await runCli(setup, 'token new --user bob --file b.json');
    expect(calls.slice(1)).to.deep.equal([
      ['a.json', 'alice', 'laptop'],
      ['b.json', 'bob', undefined],
    ]);
    expect(calls[0]).to.deep.equal({ checkConfig: true });
  });

  for (const [typed = '', effect] of rowsOf(`
    create --user a --id 1 --name b | ; the plant was created
    list --user alice               |
    token new --user a --file b     | ; no token was made
    events erase --user alice --yes | ; the events were erased
    --help                          |`))
    it(`names a standard output that is full, and says what was done: ${typed}`, async () => {
      const store = new MemoryEventStore();
      await runCli({ store }, 'create --user alice --id 1 --name Fern');
      const stdout = new Writable({ write: (_chunk, _encoding, done) => done(new Error('ENOSPC: full')) });
      const error = `plant-store: standard output: ENOSPC: full${effect}\n`;
      expect(await runCli({ store, stdout }, typed)).to.deep.equal({ code: 1, out: '', error });
    });
});

describe('The failure of a command', () => {
  const away = new StoreUnavailable('no answer', {
    cause: new Error('LOADING', { cause: new Error('::1') }),
  });
  const changed = new HistoryChanged({ version: 7, commit: 'a' });
  for (const [error, exit, message] of [
    [new Refused('it is taken'), 'refused', 'it is taken'],
    [changed, 'refused', changed.message],
    [new UnreadableHistory('event 8 is wrong'), 'refused', 'event 8 is wrong'],
    [away, 'unavailable', 'the event store is unavailable: no answer (LOADING (::1))'],
    [new OutcomeUnknown('no reply'), 'unknown', 'the outcome is unknown: no reply'],
    [Object.assign(new Error('EPIPE'), { code: 'EPIPE', syscall: 'write' }), 'brokenPipe', undefined],
    [Object.assign(new Error('ENOENT: a.json'), { syscall: 'open' }), 'refused', 'ENOENT: a.json'],
    ['a text', 'bug', 'a text'],
  ] as const)
    it(`is "${exit}" for ${String(error)}`, () => {
      const failure = failureOf(error);
      expect([failure.exit, failure.message]).to.deep.equal([exit, message]);
    });

  it('has the stack of a bug', () => {
    const { exit, message } = failureOf(new TypeError('undefined is no plant'));
    expect(exit).to.equal('bug');
    expect(message).to.match(/^TypeError: undefined is no plant\n +at /);
  });
});

describe('A command that is interrupted', () => {
  const path = temporaryDirectory();
  const never = () => new Promise<never>(() => {});
  const SETUPS: Record<string, () => CliSetup> = {
    'the store does not open': () => ({ openStore: never }),
    'no call of the store ends': () => ({
      store: Object.assign(new MemoryEventStore(), {
        read: never,
        append: never,
        head: never,
        changed: never,
      }),
    }),
    'only the index answers': () => ({
      store: Object.assign(new MemoryEventStore(), { read: never, append: never, erase: never }),
      stdin: new Readable({ read() {} }),
    }),
    'the file does not answer': () => ({ newToken: never }),
  };
  const check = 'check, or repeat the command';

  for (const [typed = '', when = '', text = ''] of rowsOf(`
    list --user a               | the store does not open   | interrupted
    create --user a --id 1 --name b | the store does not open | interrupted
    delete --user a --id 1      | the store does not open   | interrupted
    events export               | the store does not open   | interrupted
    events import               | the store does not open   | interrupted
    events tail                 | the store does not open   | interrupted
    events verify               | the store does not open   | interrupted
    events erase --user a --yes | the store does not open   | interrupted
    events store-id             | the store does not open   | interrupted
    list --user a               | no call of the store ends | interrupted
    create --user a --id 1 --name b | no call of the store ends | interrupted; it is unknown whether the plant was created: ${check}
    delete --user a --id 1      | no call of the store ends | interrupted; it is unknown whether the plant was deleted: ${check}
    events export               | no call of the store ends | interrupted
    events tail                 | no call of the store ends |
    events tail --user a        | no call of the store ends |
    events verify               | no call of the store ends | interrupted
    events erase --user a --yes | no call of the store ends | interrupted; nothing was erased
    events erase --user a --yes | only the index answers    | interrupted; repeat the command, which erases what is left
    events import               | only the index answers    | interrupted; repeat the command, which imports what is missing
    token new --user a --file b | the file does not answer  | interrupted; a token that was printed may be valid`))
    it(`ends at SIGINT with 130, at SIGTERM with 143: ${typed} (${when})`, async () => {
      for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
        const interrupted = new AbortController();
        const { outcome } = startCli({ ...SETUPS[when]!(), interrupted: interrupted.signal }, typed);
        await untilIdle();
        interrupted.abort(signal);
        const error = text === '' ? '' : `plant-store: ${text}\n`;
        expect(await outcome).to.deep.equal({ code, out: '', error });
      }
    });

  it('leaves the file of an export as it was, and no draft', async () => {
    const store = new MemoryEventStore();
    await runCli({ store }, 'create --user alice --id 1 --name Fern');
    store.read = never;
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

describe('The progress of a command', () => {
  for (const [total, line] of [
    [2000, '1,000 of 2,000 events (50 %)'],
    [800, '1,000 of 800 events (100 %)'],
    [0, '1,000 events'],
  ] as const)
    it(`is a plain line every five seconds, also on a terminal without columns: ${line}`, async () => {
      const stderr = Object.assign(new Captured(), { isTTY: true, columns: 0 });
      const clock = new ManualClock();
      const advance = progressOn({ stderr } as never, clock, 'events', total);
      const quiet = progressOn({ stderr } as never, clock, 'events', total, true);
      for (let second = 1; second <= 12; second++) {
        await clock.pass(1000);
        for (const each of [advance, quiet]) each(second * 100);
      }
      expect(stderr.text.split('\n').slice(1)).to.deep.equal([line, '']);
    });
});

describe('A text for the terminal', () => {
  for (const text of ['Fern', 'Büschelfarn', '観葉植物', '🌵', "d'Or", 'a-b (c)'])
    it(`is ${text} unchanged`, () => expect(escapeForTerminal(text)).to.equal(text));

  for (const text of [
    ...[
      '',
      ' ',
      'a ',
      ' a',
      'a  b',
      '"a"',
      'a\n',
      'a\tb',
      '\u001b[31m',
      '\u009b',
      '\u200e',
      '\u202e',
      '\ufeff',
    ],
    ...['\u00a0', '\u00ad', '\u{e0001}', '\ue000'],
  ])
    it(`is ${JSON.stringify(text)} in JSON`, () => {
      expect(escapeForTerminal(text)).to.match(/^"[ -~]*"$/);
      expect(JSON.parse(escapeForTerminal(text))).to.equal(text);
    });
});
