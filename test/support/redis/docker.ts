import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ContainerRuntimeClient, StartedNetwork, WaitStrategy } from 'testcontainers';
import { dockerAnswers, dockerHost } from './docker-daemon';
import { endWithProcess } from './end-with-process';
import { freePort } from './free-port';
import { DEFAULTS, type NoRedis, type RedisProcess, type RedisSource } from './server';

const REDIS_PORT = 6379;
const PULLED_WITHIN_MS = 120_000;

/** Redis in containers, through testcontainers: of the image REDIS_IMAGE, or else redis:7-alpine. */
export async function dockerRedis(): Promise<RedisSource | NoRedis> {
  const daemon = dockerHost();
  if (daemon === undefined) return { reason: 'there is no Docker' };
  if (!(await dockerAnswers(daemon))) return { reason: `no Docker daemon answers at ${daemon}` };

  // Loaded only here: the import alone takes about half a second.
  const { Network, getContainerRuntimeClient, getReaper } = await import('testcontainers');
  const image = process.env.REDIS_IMAGE || 'redis:7-alpine';
  try {
    const client = await getContainerRuntimeClient();
    await pull(client, image);
    // Containers that a killed test run left behind are removed by testcontainers' own container, the
    // reaper. Where its image cannot be had, do without: endWithProcess removes all but after a SIGKILL.
    await inTime(getReaper(client)).catch(() => (process.env.TESTCONTAINERS_RYUK_DISABLED = 'true'));
    const network = await new Network().start();
    const networkEnded = endWithProcess(() => docker(daemon, 'network', 'rm', network.getName()));
    return {
      name: `${image} in Docker, by testcontainers`,
      create: async (args) =>
        new ContainerProcess({ daemon, client, image, network }, args, await freePort()),
      close: async () => {
        await network.stop();
        networkEnded();
      },
    };
  } catch (error) {
    return { reason: `Docker is of no use: ${String(error).trim()}` };
  }
}

async function pull(client: ContainerRuntimeClient, image: string): Promise<void> {
  const { ImageName } = await import('testcontainers');
  const name = ImageName.fromString(image);
  try {
    await inTime(client.image.pull(name));
  } catch (cause) {
    throw new Error(`it has no image ${image} and could not pull it, ${String(cause).trim()}`, { cause });
  }
  // A pull that breaks off only ends.
  if (!(await client.image.exists(name))) throw new Error(`it has no image ${image} and could not pull it`);
}

interface Docker {
  readonly daemon: string;
  readonly client: ContainerRuntimeClient;
  readonly image: string;
  readonly network: StartedNetwork;
}

class ContainerProcess implements RedisProcess {
  readonly host: string;
  readonly peer: readonly [string, string];
  readonly #name = `plant-store-redis-${randomUUID()}`;
  #runs = 0;
  #ended = () => {};

  constructor(
    private readonly docker: Docker,
    private readonly args: readonly string[],
    readonly port: number,
  ) {
    const { host } = docker.client.info.containerRuntime;
    this.host = host === 'localhost' ? '127.0.0.1' : host;
    this.peer = [this.#name, String(REDIS_PORT)];
  }

  async run(): Promise<void> {
    const { BoundPorts, Wait, waitForContainer } = await import('testcontainers');
    // Counted from the container's beginning: testcontainers' own restart asks only for what was logged since
    // Docker says that it has started, and Redis is sometimes faster than that.
    const ready = Wait.forLogMessage('Ready to accept connections', (this.#runs += 1));
    if (this.#runs === 1) return this.#runFirst(ready);
    const { client } = this.docker;
    const container = client.container.getById(this.#name);
    await client.container.start(container);
    await waitForContainer(client, container, ready, new BoundPorts());
  }

  /** The port is fixed, so that a container which is started again has its old address, and is not published to the world. */
  async #runFirst(ready: WaitStrategy): Promise<void> {
    const { GenericContainer } = await import('testcontainers');
    const published = { HostIp: this.host === '127.0.0.1' ? this.host : '', HostPort: String(this.port) };
    class RedisContainer extends GenericContainer {
      constructor(image: string) {
        super(image);
        this.withExposedPorts(REDIS_PORT);
        this.hostConfig.PortBindings = { [`${REDIS_PORT}/tcp`]: [published] };
      }
    }
    this.#ended = endWithProcess(() => docker(this.docker.daemon, 'rm', '-f', '-v', this.#name));
    try {
      await new RedisContainer(this.docker.image)
        .withName(this.#name)
        .withCommand([...DEFAULTS, ...this.args])
        .withNetwork(this.docker.network)
        .withNetworkAliases(this.#name)
        .withWaitStrategy(ready)
        .start();
    } catch (cause) {
      throw new Error(`redis-server ${this.args.join(' ')} did not start in Docker`, { cause });
    }
  }

  async signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    await this.docker.client.container.getById(this.#name).kill({ signal });
  }

  async remove(): Promise<void> {
    // By force, since a frozen server hears no kinder word. One that could not start is gone already.
    const container = this.docker.client.container.getById(this.#name);
    await container.remove({ force: true, v: true }).catch((error: unknown) => {
      if ((error as { statusCode?: number }).statusCode !== 404) throw error;
    });
    this.#ended();
  }
}

/** The synchronous way to the daemon, for the moment of exit. */
function docker(daemon: string, ...args: string[]): void {
  spawnSync('docker', args, {
    env: { ...process.env, DOCKER_HOST: daemon },
    stdio: 'ignore',
    timeout: 10_000,
  });
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const tooLate = pause(PULLED_WITHIN_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`it took longer than ${PULLED_WITHIN_MS} ms`);
  });
  return Promise.race([work, tooLate]).finally(() => timer.abort());
}
