import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { endWithProcess } from '../../support/redis/end-with-process';
import { freePort } from '../../support/redis/free-port';
import { disconnect } from '../../support/redis/server';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { type Host, type Network, THIS_MACHINE } from './network';

const DISK_MB = 32;
const COMMAND_MS = 20_000;
/** On a host of its own, where no other server is. */
const PORT = 6379;
const STARTS_WITHIN_MS = 120_000;

/** Where clients and other servers reach a server. */
export interface KnownAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisProgramOptions {
  readonly host?: Host;
  /** Of the configuration file. */
  readonly lines: (port: number, known: KnownAddress) => readonly string[];
  readonly sentinel?: boolean;
  /** Size of its disk in MB, if it may have a file system of its own; {@link DISK_MB} by default. */
  readonly diskMb?: number | undefined;
}

/**
 * A redis-server or a Sentinel with a configuration file, which survives a restart with all that Sentinels rewrite in
 * it. On this machine, all others reach a server through its proxy. A server on a host of its own has none.
 */
export class RedisProgram {
  #child: ChildProcess | undefined;
  #frozen = false;
  /** Whether its network is dropped. */
  #isolated = false;
  readonly #forget = endWithProcess(() => {
    this.#child?.kill('SIGKILL');
    this.#removeData();
  });

  private constructor(
    readonly host: Host,
    readonly port: number,
    readonly directory: string,
    /** Whether its directory has a file system of its own. */
    readonly ownsDisk: boolean,
    private readonly ownProxy: TcpProxy | undefined,
    private readonly mode: readonly string[],
  ) {}

  static async start({
    host = THIS_MACHINE,
    lines,
    sentinel = false,
    diskMb = DISK_MB,
  }: RedisProgramOptions): Promise<RedisProgram> {
    const isLocal = host === THIS_MACHINE;
    const port = isLocal ? await freePort() : PORT;
    const directory = mkdtempSync(join(tmpdir(), 'plant-store-world-'));
    const proxy = isLocal && !sentinel ? await TcpProxy.to({ port }) : undefined;
    const mode = sentinel ? ['--sentinel'] : [];
    const program = new RedisProgram(host, port, directory, mounted(directory, diskMb), proxy, mode);
    const common = [
      ...[`port ${port}`, `bind ${host.address}`, 'protected-mode no'],
      ...[`dir ${directory}`, `logfile ${directory}/redis.log`],
    ];
    writeFileSync(join(directory, 'redis.conf'), [...common, ...lines(port, program.known), ''].join('\n'));
    await program.run();
    return program;
  }

  /** Throws for a Sentinel, and for a server on a host of its own. */
  get proxy(): TcpProxy {
    if (this.ownProxy === undefined) throw new Error('this server has no proxy');
    return this.ownProxy;
  }

  get known(): KnownAddress {
    return { host: this.host.address, port: this.ownProxy?.port ?? this.port };
  }

  isAt(host: string | undefined, port: string | number | undefined): boolean {
    return this.known.host === host && this.known.port === Number(port);
  }

  /** Whether it runs and can answer. */
  get available(): boolean {
    return this.running && !this.#frozen && !this.#isolated;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves once it answers. */
  async run(): Promise<void> {
    const configuration = join(this.directory, 'redis.conf');
    const [command = '', ...args] = [...this.host.enter, 'redis-server', configuration, ...this.mode];
    const child = spawn(command, args, {
      stdio: 'ignore',
      cwd: this.directory,
    });
    this.#child = child;
    this.#frozen = false;
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

  freeze(): void {
    this.#child!.kill('SIGSTOP');
    this.#frozen = true;
  }

  thaw(): void {
    this.#child!.kill('SIGCONT');
    this.#frozen = false;
  }

  /** Drops all packets to and from its host. */
  isolate(network: Network): void {
    network.isolate(this.host);
    this.#isolated = true;
  }

  /** Ends every dropping of packets in the network. */
  rejoin(network: Network): void {
    network.heal();
    this.#isolated = false;
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
    const client = new Redis(this.port, this.host.address, {
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
    await this.ownProxy?.close();
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
function mounted(directory: string, diskMb: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m`, 'tmpfs', directory], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
