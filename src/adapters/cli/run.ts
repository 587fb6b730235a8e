import { Arguments } from './arguments';
import type { Command, PassedOn, World } from './command';
import { COMMANDS } from './commands';
import { EXIT, WrongUsage, failureOf } from './exit';
import { explain, explainGroup, overview } from './help';

/** Carries out what was typed behind `plant-store`. Never rejects: whatever goes wrong is told, and has an exit code. */
export async function run(typed: readonly string[], world: World): Promise<number> {
  const { stdout } = world.terminal;
  try {
    if (typed.length === 0 || typed[0] === '--help' || typed[0] === '-h' || typed[0] === 'help') {
      await stdout.line(overview(COMMANDS));
      return typed.length === 0 ? EXIT.usage.code : EXIT.done.code;
    }
    if (typed[0] === '--version') {
      await stdout.line(world.version);
      return EXIT.done.code;
    }
    const group = groupNamed(typed[0]!);
    if (group.length > 0 && (typed[1] === '--help' || typed[1] === '-h')) {
      await stdout.line(explainGroup(typed[0]!, group));
      return EXIT.done.code;
    }
    const [command, args] = find(typed);
    if ('passOn' in command) return await command.passOn(args, world);
    return await carryOut(command, args, world);
  } catch (error) {
    return tell(error, false, world);
  }
}

async function carryOut(command: Command, typed: readonly string[], world: World): Promise<number> {
  try {
    const args = Arguments.parse(typed, command.options, command.positional);
    if (args.has('help')) {
      await world.terminal.stdout.line(explain(command));
      return EXIT.done.code;
    }
    return EXIT[await command.run(args, world)].code;
  } catch (error) {
    if (error instanceof WrongUsage)
      error.message += `\n\`plant-store ${command.name} --help\` explains the command.`;
    return tell(error, typed.includes('--json') && 'json' in command.options, world);
  }
}

/** A command's name is one word or two. */
function find(typed: readonly string[]): [Command | PassedOn, readonly string[]] {
  for (const words of [2, 1]) {
    const name = typed.slice(0, words).join(' ');
    const command = COMMANDS.find((one) => one.name === name);
    if (command) return [command, typed.slice(words)];
  }
  const group = groupNamed(typed[0]!);
  throw new WrongUsage(
    group.length > 0
      ? `say what to do: ${group.map(({ name }) => `plant-store ${name}`).join(', ')}`
      : `there is no such command: \`plant-store --help\` lists those there are`,
  );
}

/** The commands whose name begins with this word and has a second one. */
function groupNamed(word: string): readonly (Command | PassedOn)[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${word} `));
}

async function tell(error: unknown, json: boolean, { terminal }: World): Promise<number> {
  const { exit, message } = failureOf(error);
  if (message !== undefined) {
    const line = json ? JSON.stringify({ error: exit, message }) : `plant-store: ${message}`;
    // Where nobody hears it, there is still the exit code.
    await terminal.stderr.line(line).catch(() => {});
  }
  return EXIT[exit].code;
}
