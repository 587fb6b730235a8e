/** A Redis of the benchmark's own that syncs every write to disk before it answers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinned } from './machine';

export interface Redis {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startRedis(core: string | undefined): Promise<Redis> {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-bench-redis-'));
  const port = await freePort();
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory];
  const how = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const [program, args] = pinned(core, ['redis-server', ...where, ...how]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'exit').then(() => {
    process.off('exit', kill);
    rmSync(directory, { recursive: true });
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (some) => {
      said += String(some);
      if (said.includes('Ready to accept connections')) resolve();
    });
    void ended.then(() => reject(new Error(`redis-server did not start:\n${said}`)));
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
