import { COMMON, type Options } from './arguments';
import type { CliCommand, RawCommand } from './command';
import { EXIT } from './exit';
import { columns, paragraphs, wrap } from './layout';

/** The text of `plant-store --help`: commands, configuration and exit codes, on one screen. */
export function mainHelp(commands: readonly (CliCommand | RawCommand)[]): string {
  return [
    'plant-store: manages the plants of every user from the command line.',
    '',
    'usage: plant-store COMMAND [OPTION …]',
    '',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    ...paragraphs([
      '`plant-store COMMAND --help` explains a command. `plant-store --version` prints the version.',
      '',
      'Configuration comes from the environment, as for the service: EVENT_STORE=redis with REDIS_URL',
      '(or REDIS_CLUSTER_NODES, or REDIS_SENTINELS), REDIS_KEY_PREFIX, STORE_TIMEOUT_MS. Only serve and',
      'token new read AUTH_….',
    ]),
    '',
    'Exit codes:',
    ...columns(Object.values(EXIT).map(({ code, description }) => [String(code), description])),
  ].join('\n');
}

/** The help text of a group: the commands whose names begin with `word`. */
export function groupHelp(word: string, commands: readonly (CliCommand | RawCommand)[]): string {
  return [
    `usage: plant-store ${word} COMMAND [OPTION …]`,
    '',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    `\`plant-store ${word} COMMAND --help\` explains a command.`,
  ].join('\n');
}

export function commandHelp({ name, summary, positional, options, details }: CliCommand): string {
  const all = { ...options, ...COMMON };
  const required = Object.entries(options).filter(([, option]) => option.required);
  return [
    ...wrap(`plant-store ${name}: ${summary}`),
    '',
    ...wrap(
      [
        `usage: plant-store ${name}`,
        ...required.map(([option, { value }]) => `--${option} ${value ?? ''}`),
        '[OPTION …]',
        ...(positional === undefined ? [] : [`[${positional}]`]),
      ].join(' '),
      '',
      ' '.repeat('usage: '.length),
    ),
    ...columns(rowsOf(all)),
    '',
    ...paragraphs(details),
  ].join('\n');
}

function rowsOf(options: Options): [string, string][] {
  return Object.entries(options).map(([name, { short, value, description }]) => [
    [
      ...(short === undefined ? [] : [`-${short},`]),
      `--${name}`,
      ...(value === undefined ? [] : [value]),
    ].join(' '),
    description,
  ]);
}
