import { expect } from 'chai';
import { COMMANDS } from '../../../src/adapters/cli/commands';
import { EXIT, Refused } from '../../../src/adapters/cli/exit';
import { carryOut } from './a-terminal';

describe('plant-store', () => {
  it('lists its commands and exit codes on one screen', async () => {
    const { code, out } = await carryOut({}, '--help');
    expect(code).to.equal(0);
    for (const { name, summary } of COMMANDS) expect(out).to.contain(name).and.to.contain(summary);
    for (const { code, meaning } of Object.values(EXIT))
      expect(out).to.match(new RegExp(`^ +${code} +${meaning.slice(0, 10)}`, 'm'));
    expect(out.split('\n')).to.have.length.below(40);
    expect(Math.max(...out.split('\n').map((line) => line.length))).to.be.below(110);
  });

  for (const command of COMMANDS) {
    if ('passOn' in command) continue;
    it(`explains ${command.name}, with every option and an example`, async () => {
      const { code, out } = await carryOut({}, ...command.name.split(' '), '--help');
      expect(code).to.equal(0);
      expect(out).to.contain(`usage: plant-store ${command.name}`);
      for (const [name, { meaning }] of Object.entries(command.options))
        expect(out).to.contain(`--${name}`).and.to.contain(meaning);
      expect(out).to.match(new RegExp(`^  plant-store ${command.name}`, 'm'));
      expect(out.split('\n')).to.have.length.below(40);
    });
  }

  for (const word of ['events', 'token'])
    it(`lists the commands of ${word} on --help`, async () => {
      for (const option of ['--help', '-h']) {
        const { code, out, error } = await carryOut({}, word, option);
        expect({ code, error }).to.deep.equal({ code: 0, error: '' });
        for (const { name, summary } of COMMANDS)
          if (name.startsWith(`${word} `)) expect(out).to.contain(name).and.to.contain(summary);
      }
      expect(await carryOut({}, word, 'grow', '--help')).to.include({ code: 2, out: '' });
    });

  it('tells which one it is', async () => {
    expect(await carryOut({}, '--version')).to.include({ code: 0, out: '1.2.3\n' });
  });

  it('says what there is where it is asked for nothing, or for what there is not: exit code 2', async () => {
    expect((await carryOut({})).code).to.equal(2);
    const group = await carryOut({}, 'events');
    expect(group.code).to.equal(2);
    expect(group.error).to.contain('plant-store events export, plant-store events import');
    const unknown = await carryOut({}, 'grow');
    expect(unknown).to.include({ code: 2, out: '' });
    expect(unknown.error).to.contain('--help');
  });

  it('hands serve all that was typed behind it, and ends with its exit code', async () => {
    const served: (readonly string[])[] = [];
    const serve = async (args: readonly string[]) => {
      served.push(args);
      return 1;
    };
    expect(await carryOut({ serve }, 'serve', '--check-config', '--help')).to.include({ code: 1 });
    expect(served).to.deep.equal([['--check-config', '--help']]);
  });

  it('makes a token: the token alone on standard output', async () => {
    const asked: unknown[] = [];
    const newToken = async (...args: unknown[]) => {
      asked.push(args);
      return 'plants_secret';
    };
    const { code, out, error } = await carryOut(
      { newToken, environment: { AUTH_TOKENS_FILE: 'a.json' } },
      'token',
      'new',
      '--user',
      'alice',
      '--note',
      'laptop',
    );
    expect({ code, out }).to.deep.equal({ code: 0, out: 'plants_secret\n' });
    expect(error).to.contain('alice').and.to.contain('a.json').and.not.to.contain('secret');
    await carryOut({ newToken }, 'token', 'new', '--user', 'bob', '--file', 'b.json');
    expect(asked).to.deep.equal([
      ['a.json', { user: 'alice', note: 'laptop' }],
      ['b.json', { user: 'bob' }],
    ]);
  });

  it('makes none for nobody, nor without a file: exit code 2; and tells why it could not: 1', async () => {
    expect(await carryOut({}, 'token', 'new', '--file', 'a.json')).to.include({ code: 2, out: '' });
    expect(await carryOut({}, 'token', 'new', '--user', 'alice')).to.include({ code: 2, out: '' });
    const newToken = async () => Promise.reject(new Refused('no token was made'));
    expect(await carryOut({ newToken }, 'token', 'new', '--user', 'alice', '--file', 'a')).to.deep.equal({
      code: 1,
      out: '',
      error: 'plant-store: no token was made\n',
    });
  });
});
