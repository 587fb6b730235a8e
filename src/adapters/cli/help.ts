import { COMMON, type Options } from './arguments';
import type { Command, PassedOn } from './command';
import { EXIT } from './exit';

/** What there is, on one screen. */
export function overview(commands: readonly (Command | PassedOn)[]): string {
  return [
    'plant-store: the plants of every user, from the command line.',
    '',
    'usage: plant-store COMMAND [OPTION …]',
    '',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    '`plant-store COMMAND --help` explains a command. `plant-store --version` tells which one this is.',
    '',
    'Configuration comes from the environment, as for the service: EVENT_STORE=redis with REDIS_URL',
    '(or REDIS_CLUSTER_NODES, or REDIS_SENTINELS), REDIS_KEY_PREFIX, STORE_TIMEOUT_MS. What AUTH_… says',
    'is not asked for, but by serve and token new.',
    '',
    'Exit codes:',
    ...columns(Object.values(EXIT).map(({ code, meaning }) => [String(code), meaning])),
  ].join('\n');
}

/** The commands whose names begin with the same word. */
export function explainGroup(word: string, commands: readonly (Command | PassedOn)[]): string {
  return [
    `usage: plant-store ${word} COMMAND [OPTION …]`,
    '',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    `\`plant-store ${word} COMMAND --help\` explains a command.`,
  ].join('\n');
}

export function explain({ name, summary, positional, options, details }: Command): string {
  const all = { ...options, ...COMMON };
  const required = Object.entries(options).filter(([, option]) => option.required);
  return [
    `plant-store ${name}: ${summary}`,
    '',
    [
      `usage: plant-store ${name}`,
      ...required.map(([option, { value }]) => `--${option} ${value ?? ''}`),
      '[OPTION …]',
      ...(positional === undefined ? [] : [`[${positional}]`]),
    ].join(' '),
    ...columns(rowsOf(all)),
    '',
    ...details,
  ].join('\n');
}

function rowsOf(options: Options): [string, string][] {
  return Object.entries(options).map(([name, { short, value, meaning }]) => [
    [
      ...(short === undefined ? [] : [`-${short},`]),
      `--${name}`,
      ...(value === undefined ? [] : [value]),
    ].join(' '),
    meaning,
  ]);
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
