import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { theBlock } from '../docs/samples';
import { HttpClient } from '../support/client';
import { pendingIf } from '../support/programs';
import { dockerAnswers, startInDocker, untilReached } from '../support/redis/docker';
import { ServiceProcess } from '../support/service-process';
import { tokenOf } from '../support/token';
import { until } from '../support/until';

const { NODE_IMAGE } = process.env;
const AUTH_TOKENS = `alice:${tokenOf('alice')}`;
/** In bytes. It differs by a few megabytes between versions of Node. */
const IMAGE_AT_MOST = 145e6;

/** A suite that needs a Docker daemon. */
function describeDocker(title: string, body: () => void): void {
  describe(title, function () {
    this.timeout(900_000);
    pendingIf(() => (dockerAnswers() ? undefined : 'no Docker daemon answers'));
    body();
  });
}

async function docker(...args: readonly string[]): Promise<string> {
  // The builder that every installation has: BuildKit is a plugin.
  const env = { ...process.env, DOCKER_BUILDKIT: '0' };
  const { stdout } = await promisify(execFile)('docker', args, { env, maxBuffer: 2 ** 26 });
  return stdout.trim();
}

describeDocker('The service on a Redis in a container, started by testcontainers', () => {
  let REDIS_URL: string;
  let stop: (() => Promise<unknown>) | undefined;
  let service: ServiceProcess | undefined;

  before(async () => {
    [REDIS_URL, stop] = await startInDocker();
  });
  after(async () => {
    await service?.kill();
    await stop?.();
  });

  it('creates a plant, and another process lists it', async () => {
    const start = () => ServiceProcess.start({ EVENT_STORE: 'redis', REDIS_URL, AUTH_TOKENS });
    service = await start();
    expect(await new HttpClient(service.url).create(1, 'Fern')).to.include({ status: 200 });
    service.signal('SIGTERM');
    expect(await service.exitCode()).to.equal(0);
    service = await start();
    expect((await new HttpClient(service.url).list()).names).to.deep.equal(['Fern']);
  });
});

describeDocker('The image', () => {
  const NAME = 'plant-store:test';
  /** The commands of docs/operations.md, with a name that replaces no image of this machine. */
  const [BUILD = '', RUN = ''] = theBlock('sh container')
    .trim()
    .split('\n')
    .map((line) => line.replace('docker ', '').replace(/plant-store(?= \.$|$)/, NAME));
  const containers: string[] = [];
  const inspect = (what: string, name: string) =>
    docker('inspect', '--format', `{{${what}}}`, name);
  /** Starts a container, and waits until its own health check succeeds. */
  async function start(...options: string[]): Promise<{ id: string; url: string }> {
    const published = ['--publish', '127.0.0.1::3000', '--env', `AUTH_TOKENS=${AUTH_TOKENS}`];
    const id = await docker(
      'run',
      '--detach',
      '--env',
      'EVENT_STORE=memory',
      ...published,
      ...options,
      NAME,
    );
    containers.push(id);
    await until(async () => (await inspect('.State.Health.Status', id)) === 'healthy');
    return { id, url: `http://${await docker('port', id, '3000')}` };
  }

  before(async () => {
    // The base image of this machine reaches its package registry through the network of the host.
    const local = NODE_IMAGE
      ? ['--network', 'host', '--build-arg', `NODE_IMAGE=${NODE_IMAGE}`]
      : [];
    const [command = '', ...args] = BUILD.split(' ');
    await docker(command, ...local, ...args);
  });
  after(() => Promise.all(containers.map((id) => docker('rm', '--force', '--volumes', id))));

  it('is small, and has no shell', async () => {
    expect(Number(await inspect('.Size', NAME))).to.be.below(IMAGE_AT_MOST);
    const shell = docker('run', '--rm', '--entrypoint', 'sh', NAME).catch(String);
    expect(await shell).to.contain('executable file not found');
  });

  it('serves as in docs/operations.md, not as root, on a read-only file system, until SIGTERM', async () => {
    const [command = '', ...args] = RUN.replace(':3000:3000', '::3000').split(' ');
    const id = await docker(command, '--detach', '--cap-drop', 'ALL', ...args);
    containers.push(id);
    const url = `http://${await docker('port', id, '3000')}`;
    expect(await inspect('.Config.User', id)).to.equal('65532:65532');
    const client = new HttpClient(url, 'alice', /AUTH_TOKENS=alice:(\S+)/.exec(RUN)![1]);
    await untilReached(() => client.list());
    expect(await client.create(1, 'Fern')).to.include({ status: 200 });
    await docker('stop', '--time', '30', id);
    expect(await inspect('.State.ExitCode', id)).to.equal('0');
  });

  for (const [where, options] of Object.entries({
    'on a port that it chooses itself': ['--env', 'PORT=0'],
    'with NODE_OPTIONS': ['--env', 'NODE_OPTIONS=--max-old-space-size=100'],
  }))
    it(`is healthy ${where}`, async () => {
      await start(...options);
    });

  it('runs the command line, and reports a wrong configuration', async () => {
    expect(await docker('run', '--rm', NAME, 'events', '--help')).to.contain('verify');
    const wrong = docker('run', '--rm', '--env', 'PORT=many', '--env', 'EVENT_STORE=memory', NAME);
    expect(await wrong.catch(String)).to.contain('PORT');
  });
});
