import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';

/**
 * Clients cannot use up this many file descriptors. They are kept for the admin port, for Redis
 * (with its Sentinels, or the nodes of a Cluster), for the files that the service reads, and for
 * Node itself.
 */
const RESERVED_FILES = 128;

/** Returns `wanted`, or the fewer connections for which this process may open files. */
export function connectionLimit(wanted: number, log: Logger): number {
  const openFiles = openFilesLimit();
  const possible = Math.max(1, openFiles - RESERVED_FILES);
  if (possible >= wanted) return wanted;
  log.warn(
    { maxConnections: possible },
    `MAX_CONNECTIONS is ${wanted}, but this process accepts only ${possible} connections: ` +
      `it may open ${openFiles} files (ulimit -n), and reserves ${RESERVED_FILES} of them`,
  );
  return possible;
}

function openFilesLimit(): number {
  try {
    // Node raises the soft limit (`ulimit -Sn`) to the hard limit when it starts.
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    // Only Linux has /proc.
    return Infinity;
  }
}
