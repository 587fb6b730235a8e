import { readFileSync } from 'node:fs';

const ESTABLISHED = '01';

/** The bytes that the system still sends on connections which the server at `url` has closed. Linux only. */
export function unsentAfterClose(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  // The columns of a line: number, local and remote address, state, bytes in the send and the receive buffer …
  const lines = readFileSync('/proc/net/tcp', 'utf8').matchAll(/^ *\d+: \w+:(\w+) \S+ (\w+) (\w+):/gm);
  let sum = 0;
  for (const [, local, state, bytes] of lines)
    if (local === port && state !== ESTABLISHED) sum += parseInt(bytes!, 16);
  return sum;
}
