/** Runs every command of docs/command-line.md as it is printed there. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EXIT } from '../../../src/adapters/cli/exit';
import { COMMANDS } from '../../../src/adapters/cli/commands';
import { compiledCli } from '../../support/compiled-cli';
import { describeOwnRedis } from '../../support/redis';
import { temporaryDirectory } from '../../support/temporary-directory';

const page = readFileSync('docs/command-line.md', 'utf8');
const session = [...page.matchAll(/```console session\n([^]*?)```/g)].map(([, block]) => block!).join('');
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
    const redis = await startRedis();
    const steps = session.split(/^\$ /m).slice(1);
    expect(steps).to.have.length.above(15);
    const commands = steps.map((step) => step.slice(0, step.indexOf('\n')));
    const script = commands
      .map((command) => `status=$?; echo '${MARK}'; (exit $status)\n${patiently(command)} 2>&1`)
      .join('\n');
    const environment = { LOG_LEVEL: 'error', STORE_TIMEOUT_MS: '10000' };
    const { ended } = bash(
      script.replaceAll('redis://127.0.0.1:6379', redis.url),
      environment,
      directory(''),
    );
    const printed = (await ended).out.split(`${MARK}\n`).slice(1);
    expect(printed.map((output, index) => `${commands[index]!}\n${output}`)).to.deep.equal(
      steps.map((step) => step.replace(/\n+$/, '\n')),
    );
  });

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
