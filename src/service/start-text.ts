import { columns, paragraphs } from '../adapters/cli/layout';
import type { RunningService } from './bootstrap';
import { type Config, type ConfigProblem, MASK, type Setting, variables } from './config';

// What the service prints while it starts.

export function help(): string {
  const settings = variables.map(({ name, fallback, meaning }) => {
    const text = meaning.replaceAll('`', '');
    return [name, fallback === undefined ? text : `${text}; default: ${fallback}`] as const;
  });
  return [
    'plant-store: creates, lists and deletes plants over HTTP.',
    '',
    'usage: plant-store serve [OPTION]   or, in the repository, npm start [-- OPTION]',
    ...columns([
      ['--help', 'this text'],
      ['--check-config', 'check the configuration, load the module of EVENT_STORE, and start nothing'],
      ['--print-config', 'print it as well, without its secrets'],
    ]),
    '',
    'Configuration comes from environment variables:',
    ...columns(settings),
    '',
    ...paragraphs([
      'Without AUTH_… the in-memory store starts with a fresh development token and prints it;',
      'every other EVENT_STORE, and any NODE_ENV but development and test, need authentication.',
    ]),
  ].join('\n');
}

export function problemsText(problems: readonly ConfigProblem[]): string {
  const lines = problems.map(({ variable, rule, fix }) => `  ${variable} ${rule}\n    → ${fix}`);
  return [
    `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:`,
    ...lines,
  ].join('\n');
}

/** The configuration in force, with the source of each value. Control characters in a value are escaped. */
export function configText(settings: readonly Setting[]): string {
  const rows = settings.map(({ name, value = '–', source }) => {
    return [name, value.replaceAll(/\p{Cc}/gu, (odd) => JSON.stringify(odd).slice(1, -1)), source] as const;
  });
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  return rows
    .map(([name, value, source]) => `${name.padEnd(width(0))}  ${value.padEnd(width(1))}  ${source}`)
    .join('\n');
}

/** Where the service listens, and on which store. */
export function startSentence({ url }: RunningService, { EVENT_STORE }: Config): string {
  return `plant-store listens on ${url} (${placeOfEvents(EVENT_STORE)})`;
}

function placeOfEvents(eventStore: Config['EVENT_STORE']): string {
  switch (eventStore) {
    case 'memory':
      return 'events in memory, lost at exit';
    case 'redis':
      return 'events in Redis';
    default:
      return `events in the store of ${eventStore}`;
  }
}

/** The text of the start, for people. */
export function welcome(service: RunningService, config: Config): string {
  const { url, developmentToken } = service;
  const lines = [startSentence(service, config), `the interface, to read and to try: ${url}/docs`];
  if (developmentToken !== undefined) {
    lines.push(
      `development token: ${developmentToken}`,
      '',
      'Try it:',
      `  curl ${url}/plants -H 'Authorization: Bearer ${developmentToken}' -H 'Content-Type: application/json' -d '{"id": 1, "name": "Fern", "tag": "indoor"}'`,
      `  ${listingCurl(url, developmentToken)}`,
      '',
    );
  }
  return lines.join('\n');
}

function listingCurl(url: string, token: string): string {
  return `curl ${url}/plants -H 'Authorization: Bearer ${token}'`;
}

/**
 * The event of the start, for programs, with the configuration in force and without its secrets. It contains a
 * development token, which nothing else shows, but never a configured one.
 */
export function startEvent(
  { url, adminUrl, developmentToken }: RunningService,
  { EVENT_STORE }: Config,
  settings: readonly Setting[],
) {
  const inForce = settings.filter(({ value }) => value !== undefined);
  return {
    url,
    adminUrl,
    eventStore: EVENT_STORE,
    node: process.version,
    developmentToken,
    // Without characters that JSON escapes, so that it can be pasted.
    try: developmentToken && listingCurl(url, developmentToken),
    configuration: Object.fromEntries(inForce.map(({ name, value }) => [name, loggable(name, value!)])),
  };
}

/** The log contains no names of users. */
function loggable(name: string, value: string): string {
  return name === 'AUTH_TOKENS' ? MASK : value;
}

/** A failure to start, on one line that says what to do. */
export function startFailureText(error: unknown, { HOST, PORT, ADMIN_PORT }: Config): string {
  const { port = PORT } = error as { readonly port?: number };
  const variable = port === ADMIN_PORT ? 'ADMIN_PORT' : 'PORT';
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `cannot listen on ${HOST}:${port}: another process does. Stop it, or set ${variable} (0 picks a free one).`;
    case 'EACCES':
      return `cannot listen on ${HOST}:${port}: not permitted. Set ${variable} to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `cannot listen on ${HOST}:${port}: this machine has no such address. Set HOST, to 0.0.0.0 for all of them.`;
    default:
      return `cannot start: ${error instanceof Error ? error.message : String(error)}`;
  }
}
