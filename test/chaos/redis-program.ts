import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { disconnect } from '../support/redis/server';
import { TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

const DISK_MB = 32;
const COMMAND_MS = 20_000;
const STARTS_WITHIN_MS = 120_000;

/**
 * A redis-server or a Sentinel with a configuration file, which survives a restart with all that Sentinels rewrite in
 * it. All others reach a server through its proxy.
 */
export class RedisProgram {
  #child: ChildProcess | undefined;
  readonly #forget = endWithProcess(() => {
    this.#child?.kill('SIGKILL');
    this.#removeData();
  });

  private constructor(
    readonly port: number,
    readonly directory: string,
    /** Whether its directory has a file system of its own, of {@link DISK_MB}. */
    readonly ownsDisk: boolean,
    readonly proxy: TcpProxy,
    private readonly mode: readonly string[],
  ) {}

  /** @param lines of the configuration file, given the port and that of the proxy. */
  static async start(
    lines: (port: number, proxyPort: number) => readonly string[],
    ...mode: readonly string[]
  ): Promise<RedisProgram> {
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'plant-store-chaos-'));
    const proxy = await TcpProxy.to({ port });
    const program = new RedisProgram(port, directory, mounted(directory), proxy, mode);
    const common = [`port ${port}`, 'bind 127.0.0.1', `dir ${directory}`, `logfile ${directory}/redis.log`];
    writeFileSync(join(directory, 'redis.conf'), [...common, ...lines(port, proxy.port), ''].join('\n'));
    await program.run();
    return program;
  }

  /** The port that the others know. */
  get proxyPort(): number {
    return this.proxy.port;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves once it answers. */
  async run(): Promise<void> {
    const child = spawn('redis-server', [join(this.directory, 'redis.conf'), ...this.mode], {
      stdio: 'ignore',
      cwd: this.directory,
    });
    this.#child = child;
    await until(async () => {
      if (!this.running) throw new Error(`redis-server ended:\n${this.log.slice(-2000)}`);
      return this.call('PING').then(
        (answer) => answer === 'PONG',
        () => false,
      );
    }, STARTS_WITHIN_MS);
  }

  get log(): string {
    return readFileSync(join(this.directory, 'redis.log'), 'utf8');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child!.kill(signal);
  }

  /** `kill -9`. Resolves once the process has ended. */
  async kill(): Promise<void> {
    if (!this.running) return;
    const ended = once(this.#child!, 'exit');
    this.#child!.kill('SIGKILL');
    await ended;
  }

  /** Executes a command on a connection of its own, not through the proxy. */
  async call(...command: readonly (string | number)[]): Promise<unknown> {
    const client = new Redis(this.port, '127.0.0.1', {
      lazyConnect: true,
      retryStrategy: null,
      enableReadyCheck: false,
      connectTimeout: COMMAND_MS,
      commandTimeout: COMMAND_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const [name = '', ...args] = command;
      return await client.call(String(name), ...args);
    } finally {
      disconnect(client);
    }
  }

  /** Reads `INFO`, or another reply of lines `name:value`. */
  async facts(...command: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const lines = String(await this.call(...command)).split('\r\n');
    return new Map(lines.map((line) => line.split(/:(.*)/s, 2) as [string, string]));
  }

  /** Fills its disk. Without a disk of its own, no file of the process may grow any more. */
  fillDisk(): void {
    if (!this.ownsDisk) return this.#limitFiles('1');
    const ballast = openSync(join(this.directory, 'ballast'), 'w');
    try {
      for (const bytes of [Buffer.alloc(65_536), Buffer.alloc(1)]) for (;;) writeSync(ballast, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(ballast);
    }
  }

  /** For a process that {@link fillDisk} ended. */
  freeDisk(): void {
    rmSync(join(this.directory, 'ballast'), { force: true });
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.proxy.close();
    this.#removeData();
    this.#forget();
  }

  #limitFiles(bytes: string): void {
    execFileSync('prlimit', ['--pid', String(this.#child!.pid), `--fsize=${bytes}:`]);
  }

  #removeData(): void {
    if (this.ownsDisk) execFileSync('umount', ['--lazy', this.directory]);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Needs the right to mount. */
function mounted(directory: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', directory], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
