import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { findOnPath } from '../programs';
import { endWithProcess } from '../end-with-process';
import { until } from '../until';

const DEBIAN = '/usr/lib/postgresql';

/** Returns the folder with the programs of the server. Debian does not put them on the PATH. */
export function findPrograms(): string | undefined {
  const onPath = findOnPath('initdb') && findOnPath('postgres');
  if (onPath) return dirname(onPath);
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : [];
  const newest = versions
    .sort((one, other) => other - one)
    .map((version) => `${DEBIAN}/${version}/bin`);
  return newest.find((folder) => existsSync(join(folder, 'postgres')));
}

/**
 * PostgreSQL refuses to run as root, so a root process starts it as the user postgres, or as
 * nobody.
 */
function userOfServer(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string) =>
    Number(execFileSync('sh', ['-c', `id ${option} postgres 2>/dev/null || id ${option} nobody`]));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * A server process on this machine. Its address and data stay the same when it is started again.
 */
export class PostgresServer {
  readonly url: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'plant-store-postgres-'));
  readonly #data = join(this.#folder, 'data');
  readonly #user = userOfServer();
  #process: ChildProcess | undefined;
  readonly #forget = endWithProcess(() => this.#remove());

  constructor(
    private readonly programs: string,
    private readonly port: number,
  ) {
    this.url = `postgres://plants@127.0.0.1:${port}/postgres`;
    chmodSync(this.#folder, 0o700);
    if (this.#user.uid !== undefined) chownSync(this.#folder, this.#user.uid, this.#user.gid!);
    const args = [
      '--pgdata',
      this.#data,
      '--username',
      'plants',
      '--auth',
      'trust',
      '--encoding',
      'UTF8',
    ];
    const quick = ['--no-locale', '--no-sync'];
    execFileSync(join(programs, 'initdb'), [...args, ...quick], {
      ...this.#user,
      cwd: this.#folder,
    });
  }

  /** Starts the server, or starts it again after {@link kill9}. Resolves once it answers. */
  async start(): Promise<void> {
    let log = '';
    await until(async () => {
      // After a kill, the server does not start until all processes of the earlier one have noticed
      // it.
      if (this.#process?.exitCode !== null) this.#process = this.#spawn((text) => (log += text));
      const client = new Client(this.url);
      client.on('error', () => {});
      try {
        await client.connect();
        return true;
      } catch {
        return false;
      } finally {
        await client.end();
      }
    }).catch((error: unknown) => {
      throw new Error(`PostgreSQL did not start:\n${log}`, { cause: error });
    });
  }

  #spawn(note: (text: string) => void): ChildProcess {
    const place = ['-D', this.#data, '-p', String(this.port), '-c', 'listen_addresses=127.0.0.1'];
    // All files are in the folder, and the data need not survive a crash of the machine.
    const settings = ['unix_socket_directories=', 'dynamic_shared_memory_type=mmap', 'fsync=off'];
    const args = [...place, ...settings.flatMap((setting) => ['-c', setting])];
    const child = spawn(join(this.programs, 'postgres'), args, {
      ...this.#user,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (text) => note(String(text)));
    return child;
  }

  /**
   * Resolves once the main process has ended. The processes of its connections end soon after it.
   */
  async kill9(): Promise<void> {
    const exited = once(this.#process!, 'exit');
    this.#process!.kill('SIGKILL');
    await exited;
    this.#process = undefined;
  }

  async stop(): Promise<void> {
    const exited = this.#process && once(this.#process, 'exit');
    // SIGQUIT ends it without waiting for clients. SIGKILL would leave shared memory in the system.
    if (this.#process?.kill('SIGQUIT')) await exited;
    this.#remove();
    this.#forget();
  }

  #remove(): void {
    this.#process?.kill('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
