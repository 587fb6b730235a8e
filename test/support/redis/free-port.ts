import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port of 127.0.0.1 that nobody listens on, for a server that will be killed
 * and started again. It lies below the range that kernels lend to outgoing
 * connections (from 32768 on Linux), and so does the port + 10000 that a cluster
 * node takes besides. In that range a client that keeps calling the dead server
 * could be lent the very port, connect to itself, and the server never get it back.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(15_000, 22_000);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port found between 15000 and 22000');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
