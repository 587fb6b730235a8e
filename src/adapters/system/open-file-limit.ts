import { readFileSync } from 'node:fs';

/** How many files and connections the process may have open, on Linux; `Infinity` where it is unlimited or unknown. */
export function openFileLimit(): number {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return Infinity;
  }
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
}
