import { readFileSync } from 'node:fs';

/** The bytes in the send buffers of all connections of the server at `url`, closed ones included. Linux only. */
export function unsent(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  // The columns of a line: number, local and remote address, state, bytes in the send and the receive buffer …
  const queues = readFileSync('/proc/net/tcp', 'utf8').matchAll(/^ *\d+: \w+:(\w+) \S+ \w+ (\w+):/gm);
  return [...queues].reduce((sum, [, local, bytes]) => sum + (local === port ? parseInt(bytes!, 16) : 0), 0);
}
