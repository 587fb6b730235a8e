import { Arguments } from './arguments';
import type { CliCommand, RawCommand, CliContext } from './command';
import { COMMANDS } from './commands';
import { EXIT, WrongUsage, commandFailureOf } from './exit';
import { commandHelp, groupHelp, mainHelp } from './help';
import { unknown } from './nearest';

/** Runs a command line and resolves with its exit code. Never rejects: errors are printed. */
export async function run(typed: readonly string[], context: CliContext): Promise<number> {
  const { stdout } = context.terminal;
  if (typed[0] === 'help') typed = [...typed.slice(1), '--help'];
  try {
    if (typed.length === 0 || typed[0] === '--help' || typed[0] === '-h') {
      await stdout.line(mainHelp(COMMANDS));
      return typed.length === 0 ? EXIT.usage.code : EXIT.done.code;
    }
    if (typed[0] === '--version') {
      await stdout.line(context.version);
      return EXIT.done.code;
    }
    const group = commandsInGroup(typed[0]!);
    if (group.length > 0 && (typed[1] === '--help' || typed[1] === '-h')) {
      await stdout.line(groupHelp(typed[0]!, group));
      return EXIT.done.code;
    }
    const [command, args] = findCommand(typed);
    if ('runRaw' in command) return await command.runRaw(args, context);
    return await runCommand(command, args, context);
  } catch (error) {
    return reportError(error, false, context);
  }
}

async function runCommand(
  command: CliCommand,
  typed: readonly string[],
  context: CliContext,
): Promise<number> {
  try {
    const args = Arguments.parse(typed, command.options, command.positional);
    if (args.has('help')) {
      await context.terminal.stdout.line(commandHelp(command));
      return EXIT.done.code;
    }
    return EXIT[await command.run(args, context)].code;
  } catch (error) {
    if (error instanceof WrongUsage)
      error.message += `\n\`plant-store ${command.name} --help\` explains the command.`;
    return reportError(error, typed.includes('--json') && 'json' in command.options, context);
  }
}

/** The command that `typed` names, by one word or two, and its arguments. */
function findCommand(typed: readonly string[]): [CliCommand | RawCommand, readonly string[]] {
  for (const words of [2, 1]) {
    const name = typed.slice(0, words).join(' ');
    const command = COMMANDS.find((one) => one.name === name);
    if (command) return [command, typed.slice(words)];
  }
  const [first, second] = typed as readonly [string, ...string[]];
  const group = commandsInGroup(first);
  if (group.length > 0 && (second === undefined || second.startsWith('-')))
    throw new WrongUsage(
      `name a command of the group: ${group.map(({ name }) => `plant-store ${name}`).join(', ')}`,
    );
  const [written, among, help] =
    group.length > 0 ? [`${first} ${second!}`, group, `${first} --help`] : [first, COMMANDS, '--help'];
  throw new WrongUsage(
    `${unknown(
      'command',
      written,
      among.map(({ name }) => name),
    )}\n\`plant-store ${help}\` lists all commands.`,
  );
}

/** The commands of two words that begin with `word`. */
function commandsInGroup(word: string): readonly (CliCommand | RawCommand)[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${word} `));
}

async function reportError(error: unknown, json: boolean, { terminal }: CliContext): Promise<number> {
  const { exit, message } = commandFailureOf(error);
  if (message !== undefined) {
    const line = json ? JSON.stringify({ error: exit, message }) : `plant-store: ${message}`;
    // If standard error is closed, the exit code remains.
    await terminal.stderr.line(line).catch(() => {});
  }
  return EXIT[exit].code;
}
