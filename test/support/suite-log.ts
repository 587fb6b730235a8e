/**
 * The log of the whole run: whatever a service writes, in this process or in
 * one that a test started, passes through here and is held to what every line
 * of a log must be. hooks.ts fails the run over what was found.
 */
import { type Logger, pino } from 'pino';

/** How every token of every test begins, those that are signed included. */
const TOKEN = /alice-token|bob-token|token-of-|token-\d|other-\d|plants_[\w-]{20}|eyJ[\w-]{10}|bearer /i;

/** The start event shows the development token: nothing else does. */
const START_CURL = /"try":"curl \S+ -H 'Authorization: Bearer [\w-]{32}'",/;

const unclean: string[] = [];
let lines = 0;

/** One JSON object on one line, in printable characters, and no token. */
export function requireClean(line: string): void {
  if (!/^\{[^\p{Cc}]*\}\n$/u.test(line)) throw new Error(`not a clean log line: ${JSON.stringify(line)}`);
  JSON.parse(line);
  if (TOKEN.test(line.replace(START_CURL, ''))) throw new Error(`a token in the log: ${line}`);
}

export function noteLine(line: string): void {
  lines++;
  try {
    requireClean(line);
  } catch (error) {
    unclean.push((error as Error).message);
  }
}

/** Of a process whose log goes to its standard output, among what it tells a person. Only whole lines are judged. */
export function noteOutput(output: string): void {
  const whole = output.slice(0, output.lastIndexOf('\n') + 1);
  for (const line of whole.split('\n').slice(0, -1)) if (line.startsWith('{')) noteLine(`${line}\n`);
}

/** For a service whose log nobody looks into but this. */
export function notedLog(): Logger {
  return pino({ level: 'trace' }, { write: noteLine });
}

/** How many lines there were, and what was wrong with any of them. */
export function found(): { readonly lines: number; readonly unclean: readonly string[] } {
  return { lines, unclean };
}
