import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { HttpClient } from '../support/client';
import { tokenOf } from '../support/instance';
import { freePort } from '../support/redis/free-port';
import { until } from '../support/until';
import { theBlock } from '../docs/shell';
import { IMAGES, describeDocker, docker, image, operatorImage, say } from './docker';

const USERS = ['alice', 'bob', 'carol', 'dave'];
const AUTH_TOKENS = USERS.map((user) => `${user}:${tokenOf(user)}`).join();
const PROJECT = `plant-store-test-${process.pid}`;

describeDocker('compose.yaml, brought up', suite, async () => {
  command = await composeCommand();
  return command === undefined ? 'there is no docker compose' : undefined;
});

let command: readonly string[] | undefined;

/** The plugin, or the older stand-alone program. */
async function composeCommand(): Promise<readonly string[] | undefined> {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const answers = await say(command[0]!, [...command.slice(1), 'version']).then(
      () => true,
      () => false,
    );
    if (answers) return command;
  }
  return undefined;
}

function suite(): void {
  let client: HttpClient;
  let settings: NodeJS.ProcessEnv = {};
  let up = false;

  const compose = (...args: string[]) =>
    say(command![0]!, [...command!.slice(1), '--project-name', PROJECT, ...args], settings);
  const containers = async (service: string) => (await compose('ps', '--quiet', service)).split('\n');

  /** Runs a block of the runbooks in this project. */
  const follow = (kind: string, environment: NodeJS.ProcessEnv = {}) => {
    const COMPOSE = [...command!, '--project-name', PROJECT].join(' ');
    const text = theBlock(`sh ${kind}`)
      // The images are built already, and the settings are not in a file.
      .text.replace(/^docker compose build .*$/m, '')
      .replace(/^echo (\S+) >> \.env$/m, 'export $1')
      .replaceAll('docker compose', COMPOSE);
    return say('bash', ['-ec', text], { ...settings, COMPOSE, ...environment });
  };

  before(async () => {
    await image();
    await docker('tag', 'plant-store:test', 'plant-store');
    await operatorImage();
    const port = await freePort();
    const [secrets] = theBlock('sh compose').text.replace('>> .env', '').split('\n');
    const lines = (await say('sh', ['-ec', secrets!])).split('\n');
    settings = {
      ...Object.fromEntries(lines.map((line) => line.split('=') as [string, string])),
      AUTH_TOKENS,
      PORT: String(port),
      ...(IMAGES.haproxy && { HAPROXY_IMAGE: IMAGES.haproxy }),
      ...(IMAGES.redis && { REDIS_IMAGE: IMAGES.redis }),
    };
    // --scale, because the older program ignores replicas.
    up = true;
    await compose('up', '--detach', '--no-build', '--scale', 'plants=2');
    client = new HttpClient(`http://127.0.0.1:${port}`);
    await until(async () => (await client.list().catch(() => undefined))?.status === 200);
  });
  after(async () => {
    if (up) await compose('down', '--volumes', '--timeout', '5');
  });

  it('serves from both instances through the proxy, which does not expose the metrics', async () => {
    expect(await client.create(1, 'Fern')).to.include({ status: 200 });
    for (let i = 0; i < 10; i++) expect((await client.list()).names).to.deep.equal(['Fern']);
    const url = `http://127.0.0.1:${settings['PORT']}`;
    // A token has one instance; requests without a token go to all in turn.
    for (let i = 0; i < 10; i++) expect((await fetch(url)).status).to.equal(200);
    for (const id of await containers('plants')) expect(await docker('logs', id)).to.contain('"route":"/"');
    expect((await fetch(`${url}/metrics`)).status).to.equal(404);
  });

  it('has a Redis that lets only its users in, and each do only its tasks', async () => {
    const [redis] = await containers('redis');
    const cli = (...args: string[]) =>
      docker('exec', redis!, 'redis-cli', '--no-auth-warning', '-e', ...args).catch(String);
    const as = (user: string, password: string) => ['--user', user, '--pass', settings[password]!];
    expect(await cli('PING')).to.contain('NOAUTH');
    expect(await cli('--user', 'probe', '--pass', 'any', 'KEYS', '*')).to.contain('NOPERM');
    expect(await cli(...as('plant-store', 'REDIS_PASSWORD'), 'FLUSHALL')).to.contain('NOPERM');
    const dir = ['CONFIG', 'GET', 'appendfsync'];
    expect(await cli(...as('plant-store-admin', 'REDIS_OPERATOR_PASSWORD'), ...dir)).to.contain('always');
    expect(await cli(...as('plant-store-admin', 'REDIS_PASSWORD'), ...dir)).to.contain('WRONGPASS');
  });

  for (const name of ['AUTH_TOKENS', 'REDIS_PASSWORD'])
    it(`does nothing without ${name}, and names it`, async () => {
      const missing = await say(command![0]!, [...command!.slice(1), 'config'], {
        ...settings,
        [name]: '',
      }).catch(String);
      expect(missing).to.contain(`set ${name}=`);
    });

  it('fails no request while one instance is stopped and started again', async () => {
    const [first] = await containers('plants');
    const writer = new Writer(client, 100);
    await docker('stop', first!);
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', first!)).to.equal('0');
    await docker('start', first!);
    await pause(2000);
    await writer.stop();
    expect([...writer.statuses]).to.deep.equal([200]);
  });

  it('answers with the body of the contract if no instance is ready', async () => {
    const instances = await containers('plants');
    await docker('stop', ...instances);
    // The client checks each response against the OpenAPI document.
    await until(async () => (await client.list()).error === 50300);
    expect(await client.create(2, 'Moss')).to.include({ status: 503, error: 50300 });
    const answer = await fetch(`http://127.0.0.1:${settings['PORT']}/plants`, {
      headers: { 'X-Request-Id': 'mine' },
    });
    expect(answer.headers.get('x-request-id')).to.equal('mine');
    expect(answer.headers.get('retry-after')).to.match(/^[12]$/);
    await docker('start', ...instances);
    await until(async () => (await client.list()).status === 200);
    expect((await client.list()).names).not.to.include('Moss');
  });

  it('has every acknowledged write after Redis was killed', async () => {
    const [redis] = await containers('redis');
    const writer = new Writer(client, 10_000);
    const acknowledges = (count: number) => until(() => writer.acknowledged.length >= count);
    await acknowledges(10);
    await docker('kill', redis!);
    await docker('start', redis!);
    await acknowledges(writer.acknowledged.length + 10);
    await writer.stop();
    // The proxy may notice only now that the instances were not ready.
    await until(async () => (await client.list()).status === 200);
    expect((await client.list()).names).to.include.members(writer.acknowledged);
  });

  it('fails no request while both instances are replaced by those of another image', async () => {
    const old = await containers('plants');
    const next = "printf 'FROM plant-store:test\\nLABEL version=next\\n' | docker build --tag plant-store -";
    await say('bash', ['-c', next]);
    const writers = USERS.map(
      (user) => new Writer(new HttpClient(`http://127.0.0.1:${settings['PORT']}`, user), 20_000),
    );
    await follow('upgrade compose');
    await Promise.all(writers.map((writer) => writer.stop()));
    for (const { statuses } of writers) expect([...statuses]).to.deep.equal([200]);
    const present = await containers('plants');
    expect(present).to.have.length(old.length).and.to.not.include.members(old);
    for (const id of present)
      expect(await docker('inspect', '--format', '{{.Config.Labels.version}}', id)).to.equal('next');
  });

  it('keeps the instances if the new ones are not ready', async () => {
    const old = await containers('plants');
    const wrong = { REDIS_PASSWORD: 'wrong-but-long-enough', LIMIT: '5' };
    expect(await follow('upgrade compose', wrong).catch(String)).to.contain(
      'is not ready; the old ones serve',
    );
    expect((await client.list()).status).to.equal(200);
    const present = await containers('plants');
    expect(present)
      .to.include.members(old)
      .and.to.have.length(2 * old.length);
    await docker('rm', '--force', ...present.filter((id) => !old.includes(id)));
  });

  it('says which password the backup lacks', async () => {
    const lacking = { ...settings, REDIS_OPERATOR_PASSWORD: '' };
    const run = ['--project-name', PROJECT, '--profile', 'backup', 'run', '--rm', '--no-deps', 'backup'];
    const failure = await say(command![0]!, [...command!.slice(1), ...run], lacking).catch(String);
    expect(failure).to.contain('set REDIS_OPERATOR_PASSWORD');
  });

  it('is backed up by itself, restored by the commands of the page, and has the data before again', async () => {
    await follow('compose backup');
    const [backup] = await containers('backup');
    let log = '';
    const nameIn = () => /^verified: \/backups\/(.+)$/m.exec(log)?.[1];
    await until(async () => {
      log = await docker('logs', backup!);
      return nameIn() !== undefined;
    }).catch(async () => expect.fail(await say('sh', ['-c', `docker logs ${backup!} 2>&1`])));
    const name = nameIn();
    const saved = (await client.list()).names!;
    expect(await client.create(5000, 'Later')).to.include({ status: 200 });
    const served = async () => (await client.list().catch(() => undefined))?.names;

    await follow('compose restore', { BACKUP: name });
    await until(async () => (await served())?.length === saved.length);
    expect(await served()).to.deep.equal(saved);

    await compose('up', '--detach');
    await until(async () => (await served())?.at(-1) === 'Later');
  });
}

/** Creates one plant after the other until it is stopped. */
class Writer {
  readonly statuses = new Set<number>();
  readonly acknowledged: string[] = [];
  readonly #done: Promise<void>;
  #stopped = false;

  constructor(client: HttpClient, firstId: number) {
    this.#done = this.#write(client, firstId);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }

  async #write(client: HttpClient, firstId: number): Promise<void> {
    for (let id = firstId; !this.#stopped; id++) {
      const { status } = await client.create(id, `Ivy ${id}`);
      this.statuses.add(status);
      if (status === 200) this.acknowledged.push(`Ivy ${id}`);
      else await pause(50);
    }
  }
}
