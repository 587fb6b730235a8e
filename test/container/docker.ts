import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { dockerAnswers, dockerHost } from '../support/redis/docker-daemon';

const execute = promisify(execFile);

/** The standard output of `command`, without the last line end. Rejects with all output if it fails. */
export async function say(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  // The builder of every Docker installation: BuildKit is a plugin. The local base image needs the host's network.
  const environment = { ...process.env, DOCKER_BUILDKIT: '0', ...env };
  const { stdout } = await execute(command, args, { env: environment, maxBuffer: 2 ** 26 }).catch(
    (error: unknown) => {
      const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
      throw new Error([message, stdout, stderr].join('\n'));
    },
  );
  return stdout.trim();
}

export function docker(...args: readonly string[]): Promise<string> {
  return say('docker', args);
}

/** The images of the suites' containers; see scripts/container-images.sh. */
export const IMAGES = {
  node: process.env.NODE_IMAGE,
  haproxy: process.env.HAPROXY_IMAGE,
  redis: process.env.REDIS_IMAGE,
};

/** The image of the present source, built by the first suite that needs it. */
export function image(): Promise<string> {
  return (built ??= build());
}
let built: Promise<string> | undefined;

async function build(): Promise<string> {
  const from =
    IMAGES.node === undefined ? [] : ['--network', 'host', '--build-arg', `NODE_IMAGE=${IMAGES.node}`];
  await docker('build', ...from, '--tag', 'plant-store:test', '.');
  return 'plant-store:test';
}

/** The image for the tasks on Redis, with the service of {@link image}. */
export async function operatorImage(): Promise<void> {
  await image();
  const from = IMAGES.redis === undefined ? [] : ['--build-arg', `REDIS_IMAGE=${IMAGES.redis}`];
  const options = [...from, '--build-arg', 'SERVICE_IMAGE=plant-store:test', '--tag', 'plant-store-operator'];
  await docker('build', '--file', 'deploy/operator.Dockerfile', ...options, 'deploy');
}

/** A suite that needs a Docker daemon, and `more`. Without them it is pending, or fails if REQUIRE_DOCKER is set. */
export function describeDocker(
  title: string,
  body: () => void,
  more: () => Promise<string | undefined> = noMore,
): void {
  describe(title, function (this: Mocha.Suite & { pendingReason?: string }) {
    this.timeout(240_000);
    before(async function () {
      const host = dockerHost();
      const daemon = host !== undefined && (await dockerAnswers(host));
      const missing = daemon ? await more() : 'no Docker daemon answers';
      if (missing === undefined) return;
      if (process.env.REQUIRE_DOCKER) throw new Error(missing);
      (this.test!.parent as Mocha.Suite & { pendingReason?: string }).pendingReason = missing;
      this.skip();
    });
    body();
  });
}

const noMore = () => Promise.resolve(undefined);
