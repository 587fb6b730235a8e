import { readFileSync } from 'node:fs';

/** Limit of open files and connections of the process, on Linux; `Infinity` if unlimited or unknown. */
export function openFileLimit(): number {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return Infinity;
  }
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
}
