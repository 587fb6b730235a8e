/** The servers under load, each a process of its own, and what a request costs it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Load, type Next, type Request } from './load';

export type Operation = 'GET' | 'POST' | 'DELETE';

const CONNECTIONS = 64;
/** The clock ticks of /proc in a second. */
const TICKS = 100;
const PLANTS = 100;
const START_WITHIN_MS = 20_000;
/**
 * Requests of each operation until all code is compiled: a number, because a busy machine compiles
 * late.
 */
const WARM_UP = 10_000;

const tokenOf = (user: number) => `token-of-the-user-${user}`;
const canPin = spawnSync('taskset', ['-c', '1', 'true']).status === 0;

/** Everything but the server under load runs on the second core. */
export function pinSelf(): void {
  if (canPin) spawnSync('taskset', ['-apc', '1', String(process.pid)]);
}

/** `command`, on that core. */
function pinned(core: number, command: readonly string[]): readonly [string, ...string[]] {
  return (canPin ? ['taskset', '-c', String(core), ...command] : command) as [string, ...string[]];
}

const running: ChildProcess[] = [];
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

/** Starts a process that listens on `port`, with its output in a file. */
async function start(
  directory: string,
  port: number,
  core: number,
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
) {
  const output = openSync(join(directory, `${port}.log`), 'w');
  const [program, ...args] = pinned(core, command);
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  running.push(child);
  const end = performance.now() + START_WITHIN_MS;
  while (!(await listens(port))) {
    if (child.exitCode === null && performance.now() < end) await pause(20);
    else
      throw new Error(
        `${command.join(' ')} does not start:\n${readFileSync(join(directory, `${port}.log`), 'utf8')}`,
      );
  }
  return child;
}

function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts an empty Redis that syncs each write to disk. @param more arguments of it. */
export async function startRedis(directory: string, ...more: readonly string[]) {
  const port = await freePort();
  const data = join(directory, `redis-${port}`);
  mkdirSync(data);
  const settings = ['--port', String(port), '--dir', data, '--save', '', '--appendonly', 'yes'];
  const command = ['redis-server', ...settings, '--appendfsync', 'always', ...more];
  const child = await start(directory, port, 1, command);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    stop: () => child.kill('SIGKILL'),
    /** What its thread of commands has used so far. */
    microseconds: () =>
      Number(readFileSync(`/proc/${child.pid!}/schedstat`, 'latin1').split(' ')[0]) / 1000,
  };
}

/** What one slice of load has measured. */
export interface Slice {
  readonly requests: number;
  /** Processor time of the server for a request, in µs. */
  readonly microseconds: number;
  readonly perSecond: number;
}

/** A server with users that have 100 plants each. */
export class Server {
  readonly #requests: Readonly<Record<Operation, Next>>;
  /** What was created and is not deleted yet. */
  #created: (readonly [user: number, id: number])[] = [];
  #ids = 0;
  #turn = 0;

  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
    private readonly users: number,
  ) {
    const lists = Array.from({ length: users }, (_, user) => ({
      bytes: bytesOf('GET', '/plants', user),
      status: 200,
    }));
    this.#requests = {
      GET: () => lists[this.#user()],
      POST: () => this.#create(),
      DELETE: () => {
        const created = this.#created.pop();
        return (
          created && { bytes: bytesOf('DELETE', `/plants/${created[1]}`, created[0]), status: 204 }
        );
      },
    };
  }

  /** Starts it, with its plants, and lets its code be compiled. */
  static async start(
    directory: string,
    command: string,
    env: NodeJS.ProcessEnv,
    users: number,
  ): Promise<Server> {
    const port = await freePort();
    const AUTH_TOKENS = Array.from(
      { length: users },
      (_, user) => `user${user}:${tokenOf(user)}`,
    ).join();
    const child = await start(directory, port, 0, [process.execPath, command], {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      AUTH_TOKENS,
      EVENT_STORE: 'memory',
      ...env,
    });
    const server = new Server(child, port, users);
    await server.#send(() => (server.#ids < PLANTS * users ? server.#create() : undefined));
    server.#created = [];
    for (const operation of ['GET', 'POST', 'DELETE'] as const) {
      let left = WARM_UP;
      await server.#send(() => (left-- > 0 ? server.#requests[operation]() : undefined));
    }
    return server;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  /**
   * As many requests as it answers in `seconds`. A slice of DELETE deletes what the slices of POST
   * before have created.
   */
  slice(operation: Operation, seconds: number): Promise<Slice> {
    return Load.on(this.port, CONNECTIONS, async (load) => {
      const [start, before] = [performance.now(), this.#processorSeconds()];
      const count = await load.saturate(
        this.#requests[operation],
        operation === 'DELETE' ? Infinity : seconds,
      );
      const [elapsed, used] = [performance.now() - start, this.#processorSeconds() - before];
      return {
        requests: count,
        microseconds: (used / count) * 1e6,
        perSecond: (count / elapsed) * 1000,
      };
    });
  }

  /** The 99th percentile in ms of the time to a response, at a constant rate. */
  async p99(operation: Operation, perSecond: number, seconds: number): Promise<number> {
    const next = this.#requests[operation];
    const times = await Load.on(this.port, CONNECTIONS, (load) =>
      load.pace(next, perSecond, seconds),
    );
    return times[Math.floor(times.length * 0.99)]!;
  }

  /** Sends all of these requests. */
  async #send(next: Next): Promise<void> {
    await Load.on(this.port, CONNECTIONS, (load) => load.saturate(next, Infinity));
  }

  #user(): number {
    return (this.#turn = (this.#turn + 1) % this.users);
  }

  #create(): Request {
    const [user, id] = [this.#user(), ++this.#ids];
    this.#created.push([user, id]);
    const body = JSON.stringify({ id, name: `plant-${id}`, tag: 'indoor' });
    const fields = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    return { bytes: bytesOf('POST', '/plants', user, fields, body), status: 200 };
  }

  #processorSeconds(): number {
    const fields = readFileSync(`/proc/${this.child.pid!}/stat`, 'latin1')
      .split(') ')[1]!
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  }
}

function bytesOf(method: Operation, path: string, user: number, fields = '', body = ''): string {
  const authorization = `Authorization: Bearer ${tokenOf(user)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}${fields}\r\n${body}`;
}
