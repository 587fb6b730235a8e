/**
 * The log of the whole run: every line that a service writes, in this process or in
 * one that a test started, is checked here against the rules for all
 * log lines. hooks.ts fails the run if a line breaks them.
 */
/** The first characters of every token in the tests, also of signed ones. */
const TOKEN = /alice-token|bob-token|token-of-|token-\d|other-\d|plants_[\w-]{20}|eyJ[\w-]{10}|bearer /i;

/** Only the start event may contain the development token. */
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

/** For a process that writes its log to standard output, together with text for people. Checks only complete lines. */
export function noteOutput(output: string): void {
  const whole = output.slice(0, output.lastIndexOf('\n') + 1);
  for (const line of whole.split('\n').slice(0, -1)) if (line.startsWith('{')) noteLine(`${line}\n`);
}

/** The number of lines, and the lines that break the rules. */
export function found(): { readonly lines: number; readonly unclean: readonly string[] } {
  return { lines, unclean };
}
