import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/redis/free-port';

export interface DurableRedis {
  readonly port: number;
  readonly url: string;
  /** Ends it, and its data with it. */
  stop(): Promise<void>;
}

/**
 * A redis-server of a command's own, that syncs every write to disk before it answers. It does not outlive this
 * process. Rejects where it does not start, or there is none on the PATH.
 *
 * @param through what it is to be run by, such as taskset: makes another command of this one.
 */
export async function startDurableRedis(
  through = (command: readonly string[]) => [...command],
): Promise<DurableRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-redis-'));
  const port = await freePort();
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory];
  const how = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const [program = '', ...args] = through(['redis-server', ...where, ...how]);
  // In a process group of its own: Ctrl-C at the terminal is for us, and Redis goes when its clients have gone.
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  // Where there is no such program, it rejects.
  const ended = once(child, 'exit').finally(() => {
    process.off('exit', kill);
    rmSync(directory, { recursive: true, force: true });
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (some) => {
      said += String(some);
      if (said.includes('Ready to accept connections')) resolve();
    });
    ended.then(() => reject(new Error(`redis-server did not start:\n${said}`)), reject);
  });
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
