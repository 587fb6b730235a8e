import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import type { CliCommand } from '../../../src/adapters/cli/command';
import { COMMANDS } from '../../../src/adapters/cli/commands';
import { EXIT, Refused } from '../../../src/adapters/cli/exit';
import { expectFits80Columns, runCli } from './cli-fixture';

describe('plant-store', () => {
  it('lists its commands and exit codes on one screen', async () => {
    const { code, out } = await runCli({}, '--help');
    expect(code).to.equal(0);
    for (const { name, summary } of COMMANDS) expect(out).to.contain(name).and.to.contain(summary);
    for (const { code, description } of Object.values(EXIT))
      expect(out).to.match(new RegExp(`^ +${code} +${description.slice(0, 10)}`, 'm'));
    expect(out.split('\n')).to.have.length.below(40);
    expectFits80Columns(out);
  });

  it('has every command that a file of its folder exports', () => {
    const folder = resolve('src/adapters/cli');
    const load = createRequire(__filename);
    const exported = readdirSync(folder).flatMap((file) =>
      Object.values(load(join(folder, file)) as Record<string, unknown>),
    );
    const commands = exported.filter(
      (value): value is CliCommand => value instanceof Object && 'run' in value,
    );
    const listed = COMMANDS.filter((command) => 'run' in command);
    expect(commands.map(({ name }) => name)).to.have.members(listed.map(({ name }) => name));
  });

  for (const command of COMMANDS) {
    if ('runRaw' in command) continue;
    it(`explains ${command.name}, with every option and an example`, async () => {
      const { code, out } = await runCli({}, ...command.name.split(' '), '--help');
      expect(code).to.equal(0);
      expect(out).to.contain(`usage: plant-store ${command.name}`);
      const joined = out.replaceAll(/\n +/g, ' ');
      for (const [name, { description }] of Object.entries(command.options))
        expect(joined).to.contain(`--${name}`).and.to.contain(description);
      expectFits80Columns(out);
      expect(out).to.match(new RegExp(`^  plant-store ${command.name}`, 'm'));
      expect(out.split('\n')).to.have.length.below(40);
    });
  }

  for (const word of ['events', 'token'])
    it(`lists the commands of ${word} on --help`, async () => {
      for (const option of ['--help', '-h']) {
        const { code, out, error } = await runCli({}, word, option);
        expect({ code, error }).to.deep.equal({ code: 0, error: '' });
        for (const { name, summary } of COMMANDS)
          if (name.startsWith(`${word} `)) expect(out).to.contain(name).and.to.contain(summary);
      }
      expect(await runCli({}, word, 'grow', '--help')).to.include({ code: 2, out: '' });
    });

  it('prints its version on --version', async () => {
    expect(await runCli({}, '--version')).to.include({ code: 0, out: '1.2.3\n' });
  });

  it('exits with 2 and names the commands when the command is missing or unknown', async () => {
    expect((await runCli({})).code).to.equal(2);
    const group = await runCli({}, 'events');
    expect(group.code).to.equal(2);
    expect(group.error).to.contain('plant-store events export, plant-store events import');
    expect(await runCli({}, 'grow')).to.deep.equal({
      code: 2,
      out: '',
      error: 'plant-store: unknown command grow\n`plant-store --help` lists all commands.\n',
    });
  });

  for (const [typed, question] of [
    ['lst', 'unknown command lst: did you mean list?'],
    ['events exprot', 'unknown command events exprot: did you mean events export?'],
    ['list --usr=alice', 'unknown option --usr: did you mean --user?'],
    ['events verify --\u001b', 'unknown option "--\\u001b"\n'],
  ] as const)
    it(`names what is unknown in ${JSON.stringify(typed)}, and suggests the nearest`, async () => {
      const { code, error } = await runCli({}, ...typed.split(' '));
      expect(code).to.equal(2);
      expect(error).to.contain(`plant-store: ${question}`);
    });

  it('reports everything that is wrong with the arguments at once', async () => {
    const { code, error } = await runCli({}, 'create --tag --json=yes --user a --user=b --id -7');
    expect(code).to.equal(2);
    expect(error).to.equal(
      [
        'plant-store: --tag needs a value; write one that begins with - as --tag=--json=yes',
        '--user is given twice',
        '--id needs a value; write one that begins with - as --id=-7',
        '--name TEXT is required',
        '`plant-store create --help` explains the command.\n',
      ].join('\n'),
    );
    expect((await runCli({}, 'create')).error).to.match(/--user NAME is required\n--id ID .*\n--name TEXT/);
    expect((await runCli({}, 'list --json=yes --user')).error).to.match(
      /--json has no value\n--user needs a value: --user NAME\n/,
    );
  });

  for (const words of [['create'], ['events'], ['events', 'tail'], []])
    it(`shows by ${['help', ...words].join(' ')} what --help shows`, async () => {
      expect(await runCli({}, 'help', ...words)).to.deep.equal(await runCli({}, ...words, '--help'));
    });

  it('passes all arguments to serve, and exits with its exit code', async () => {
    const served: (readonly string[])[] = [];
    const serve = async (args: readonly string[]) => {
      served.push(args);
      return 1;
    };
    expect(await runCli({ serve }, 'serve --check-config --help')).to.include({ code: 1 });
    expect(served).to.deep.equal([['--check-config', '--help']]);
  });

  it('prints only the new token on standard output', async () => {
    const asked: unknown[] = [];
    const newToken = async (...args: unknown[]) => {
      asked.push(args);
      return 'plants_secret';
    };
    const { code, out, error } = await runCli(
      { newToken, environment: { AUTH_TOKENS_FILE: 'a.json' } },
      'token new --user alice --note laptop',
    );
    expect({ code, out }).to.deep.equal({ code: 0, out: 'plants_secret\n' });
    expect(error).to.contain('alice').and.to.contain('a.json').and.not.to.contain('secret');
    await runCli({ newToken }, 'token new --user bob --file b.json');
    expect(asked).to.deep.equal([
      ['a.json', { user: 'alice', note: 'laptop' }],
      ['b.json', { user: 'bob' }],
    ]);
  });

  it('exits with 2 when a new token has no user or file, and with 1 when it cannot be created', async () => {
    expect(await runCli({}, 'token new --file a.json')).to.include({ code: 2, out: '' });
    expect(await runCli({}, 'token new --user alice')).to.include({ code: 2, out: '' });
    const newToken = async () => Promise.reject(new Refused('no token was made'));
    expect(await runCli({ newToken }, 'token new --user alice --file a')).to.deep.equal({
      code: 1,
      out: '',
      error: 'plant-store: no token was made\n',
    });
  });
});
