import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endWithProcess } from './end-with-process';
import { freePort } from './free-port';
import { DEFAULTS, type NoRedis, type RedisProcess, type RedisSource } from './server';

/** Redis from the `redis-server` on the PATH. */
export async function localRedis(): Promise<RedisSource | NoRedis> {
  try {
    const { stdout } = await promisify(execFile)('redis-server', ['--version']);
    const version = /v=(\S+)/.exec(stdout)?.[1] ?? 'of an unknown version';
    return {
      name: `the redis-server ${version} on the PATH`,
      create: async (args) =>
        new LocalProcess(args, await freePort(), await mkdtemp(join(tmpdir(), 'plant-store-redis-'))),
      close: async () => {},
    };
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { reason: missing ? 'no redis-server is on the PATH' : `redis-server: ${String(error)}` };
  }
}

class LocalProcess implements RedisProcess {
  readonly host = '127.0.0.1';
  readonly peer: readonly [string, string];
  readonly #ended: () => void;
  #child: ChildProcess | undefined;

  constructor(
    private readonly args: readonly string[],
    readonly port: number,
    private readonly directory: string,
  ) {
    this.peer = [this.host, String(port)];
    this.#ended = endWithProcess(() => {
      this.#child?.kill('SIGKILL');
      this.#removeData();
    });
  }

  async run(): Promise<void> {
    const log = openSync(this.#log, 'w');
    const place = ['--port', String(this.port), '--bind', this.host, '--dir', this.directory];
    const child = spawn('redis-server', [...place, ...DEFAULTS, ...this.args], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await once(child, 'spawn');
    this.#child = child;
    // A forgotten server shall not keep the test run from ending.
    child.unref();
    await this.#ready(child);
  }

  /** Asks the log, which also says at once why a server with a wrong argument is not there. */
  async #ready(child: ChildProcess): Promise<void> {
    for (;;) {
      const exited = hasExited(child);
      const log = await readFile(this.#log, 'utf8');
      if (exited) throw new Error(`redis-server ${this.args.join(' ')} did not start:\n${log}`);
      if (log.includes('Ready to accept connections')) return;
      await pause(5);
    }
  }

  async signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const child = this.#child;
    if (child === undefined || hasExited(child)) throw new Error(`${signal}: redis-server is not running`);
    const exited = signal === 'SIGKILL' && once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async remove(): Promise<void> {
    if (this.#child && !hasExited(this.#child)) await this.signal('SIGKILL');
    this.#removeData();
    this.#ended();
  }

  get #log(): string {
    return join(this.directory, 'redis.log');
  }

  #removeData(): void {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
