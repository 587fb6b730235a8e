import { readFileSync } from 'node:fs';

/**
 * How many files and sockets this process may have open; Infinity where only Linux tells. Node has raised the soft limit
 * (`ulimit -Sn`) to the hard one.
 */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
