import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { endWithProcess } from './end-with-process';
import { freePort } from './free-port';

/** A Sentinel that watches the primary `plants`. */
export class Sentinel {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly admin: Redis,
    private readonly end: () => void,
  ) {}

  static async watch(primaryPort: number, quorum = 1): Promise<Sentinel> {
    const port = await freePort();
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-sentinel-'));
    const file = join(directory, 'sentinel.conf');
    await writeFile(
      file,
      `port ${port}\nbind 127.0.0.1\ndir ${directory}\nsentinel monitor plants 127.0.0.1 ${primaryPort} ${quorum}\n`,
    );
    const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
    child.unref();
    const ended = endWithProcess(() => {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    });
    const admin = new Redis(port, { maxRetriesPerRequest: null, enableReadyCheck: false });
    admin.on('error', () => {});
    await admin.ping();
    return new Sentinel(port, child, admin, () => {
      rmSync(directory, { recursive: true, force: true });
      ended();
    });
  }

  /** Host and port of the primary. */
  async primary(): Promise<string> {
    return String(await this.admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'plants'));
  }

  /** How many other Sentinels it knows. */
  async others(): Promise<number> {
    return ((await this.admin.call('SENTINEL', 'SENTINELS', 'plants')) as unknown[]).length;
  }

  /** Starts a failover, and waits until the replica is promoted. */
  async failover(): Promise<void> {
    const before = await this.primary();
    while (!(await this.#accepts('SENTINEL', 'FAILOVER', 'plants'))) await pause(50);
    while ((await this.primary()) === before) await pause(50);
  }

  /** The Sentinel promotes no replica before it has discovered it. */
  async #accepts(...command: [string, ...string[]]): Promise<boolean> {
    return this.admin.call(...command).then(
      () => true,
      () => false,
    );
  }

  async stop(): Promise<void> {
    this.admin.disconnect();
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
    this.end();
  }
}
