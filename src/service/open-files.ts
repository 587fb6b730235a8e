import { readFileSync } from 'node:fs';

/**
 * Returns the number of files and sockets that this process may have open, or Infinity where there
 * is no /proc to read it from. Node raises the soft limit (`ulimit -Sn`) to the hard limit when it
 * starts.
 */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
