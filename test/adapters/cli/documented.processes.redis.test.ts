/** Runs every command of docs/command-line.md as it is printed there. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EXIT } from '../../../src/adapters/cli/exit';
import { COMMANDS } from '../../../src/adapters/cli/commands';
import { stepsOf } from '../../docs/shell';
import { compiledCli } from '../../support/compiled-cli';
import { describePrograms } from '../../support/programs';
import { describeOwnRedis } from '../../support/redis';
import { temporaryDirectory } from '../../support/temporary-directory';

const page = readFileSync('docs/command-line.md', 'utf8');
const MARK = '--- the next command ---';

/** The same command; one that is ended after some seconds gets twice as many until it has printed something. */
const patiently = (command: string) =>
  command.replace(
    /^timeout -s INT (\d+) (.*)$/,
    (_, first: string, rest: string) =>
      `seconds=${first}; until printed=$(timeout -s INT $seconds ${rest}); [ -n "$printed" ] || [ $seconds -ge 16 ]; do seconds=$((2 * seconds)); done; echo "$printed"`,
  );

describe('The page about the command line', () => {
  it('lists all commands, and the exit codes with the text of --help', () => {
    const codes = [...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, text]) => [Number(code), text]);
    expect(codes).to.deep.equal(Object.values(EXIT).map(({ code, description }) => [code, description]));
    for (const { name } of COMMANDS) expect(page).to.contain(`\`${name}\``);
  });
});

describeOwnRedis('The page about the command line', (startRedis) => {
  const bash = compiledCli();
  const directory = temporaryDirectory();

  it('shows the output of its commands', async function () {
    // Some twenty processes, one after the other.
    this.timeout(180_000).slow(20_000);
    await showsItsOutput('bash');
  });

  describePrograms({ zsh: 'zsh' }, 'in zsh', () => {
    it('shows the output of its commands', async function () {
      this.timeout(180_000).slow(20_000);
      await showsItsOutput('zsh');
    });
  });

  async function showsItsOutput(shell: string): Promise<void> {
    const redis = await startRedis();
    const steps = stepsOf('console session');
    expect(steps).to.have.length.above(15);
    const script = steps
      .map(([command]) => `code=$?; echo '${MARK}'; (exit $code)\n${patiently(command)} 2>&1`)
      .join('\n');
    const environment = { LOG_LEVEL: 'error', STORE_TIMEOUT_MS: '10000' };
    const { ended } = bash(
      script.replaceAll('redis://127.0.0.1:6379', redis.url),
      environment,
      directory(''),
      shell,
    );
    const printed = (await ended).out.split(`${MARK}\n`).slice(1);
    expect(printed.map((output, index) => [steps[index]![0], output])).to.deep.equal(steps);
  }

  it('has a script that copies all events to another Redis (sh migrate)', async function () {
    this.slow(20_000);
    const [old, fresh] = [await startRedis(), await startRedis()];
    const script = /```sh migrate\n([^]*?)```/
      .exec(page)![1]!
      .replace('redis://old.example.com', old.url)
      .replace('redis://new.example.com', fresh.url);
    const run = (text: string, url: string) =>
      bash(text, { LOG_LEVEL: 'error', EVENT_STORE: 'redis', REDIS_URL: url }, directory('')).ended;
    await run('plant-store create --user alice --id 1 --name Fern', old.url);
    const moved = await run(script, old.url);
    expect(moved.code, moved.error).to.equal(0);
    expect((await run('plant-store list --user alice', fresh.url)).out).to.contain('Fern');
  });
});
