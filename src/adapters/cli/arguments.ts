import { parseArgs } from 'node:util';
import { type User, USER_RULE, parseUser } from '../../application';
import { WrongUsage } from './exit';
import { unknown } from './nearest';
import { escapeForTerminal } from './terminal';

interface Option {
  /** Help text, with range and unit. */
  readonly description: string;
  /** Placeholder for the value in the usage; absent for a boolean option. */
  readonly value?: string;
  readonly short?: string;
  readonly repeatable?: true;
  readonly required?: true;
}

export type Options = Readonly<Record<string, Option>>;

/** The options of every command. */
export const COMMON: Options = {
  help: { short: 'h', description: 'this text' },
};

/** The parsed arguments of a command, checked against its options. */
export class Arguments {
  private constructor(
    private readonly values: ReadonlyMap<string, readonly string[]>,
    readonly positional: string | undefined,
  ) {}

  /** @throws {WrongUsage} with everything that is wrong, one problem a line. */
  static parse(args: readonly string[], options: Options, positional?: string): Arguments {
    const known = { ...COMMON, ...options };
    const values = new Map<string, string[]>();
    const positionals: string[] = [];
    const problems: string[] = [];
    for (const token of tokensOf(args, known)) {
      if (token.kind === 'positional') positionals.push(token.value);
      if (token.kind !== 'option') continue;
      const earlier = values.get(token.name) ?? [];
      const problem = problemOf(token, known, earlier.length);
      if (problem !== undefined) problems.push(problem);
      values.set(token.name, [...earlier, token.value ?? '']);
    }
    // Behind an unknown option it is probably a value.
    if (problems.length === 0 && positionals.length > (positional === undefined ? 0 : 1))
      problems.push(`unexpected argument: ${JSON.stringify(positionals.at(-1))}`);
    if (!values.has('help')) {
      for (const [name, { required, value }] of Object.entries(options))
        if (required && !values.has(name)) problems.push(`--${name} ${value ?? ''} is required`);
    }
    if (problems.length > 0) throw new WrongUsage(problems.join('\n'));
    return new Arguments(values, positionals[0]);
  }

  has(option: string): boolean {
    return this.values.has(option);
  }

  text(option: string): string | undefined {
    return this.values.get(option)?.[0];
  }

  /** All values of a repeatable option, in the order given. */
  texts(option: string): readonly string[] {
    return this.values.get(option) ?? [];
  }

  /** The value as a whole number of at least `minimum`; throws {@link WrongUsage} for any other. */
  number(option: string, minimum: number): number | undefined {
    const text = this.text(option);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^[0-9]+$/.test(text) || value < minimum)
      throw new WrongUsage(`--${option} must be a whole number from ${minimum}`);
    return value;
  }

  /** The user, for a command whose `--user` is required. */
  user(): User {
    return this.users()[0]!;
  }

  /** All users, without duplicates, in the order given. */
  users(): readonly User[] {
    return [...new Set(this.values.get('user') ?? [])].map((name) => {
      const user = parseUser(name);
      if (user === undefined) throw new WrongUsage(`--user must be ${USER_RULE}`);
      return user;
    });
  }
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

/** What is wrong with an option that was given `earlier` times before. */
function problemOf(
  { name, rawName, value, inlineValue }: OptionToken,
  known: Options,
  earlier: number,
): string | undefined {
  if (!Object.hasOwn(known, name)) return unknown('option', rawName, namesOf(known));
  const option = known[name]!;
  if (earlier > 0 && !option.repeatable) return `--${name} is given twice`;
  if (option.value === undefined) return value === undefined ? undefined : `--${name} has no value`;
  if (value === undefined) return `--${name} needs a value: --${name} ${option.value}`;
  if (!inlineValue && value.startsWith('-') && value !== '-')
    return `--${name} needs a value; write one that begins with - as --${name}=${escapeForTerminal(value)}`;
  // Node replaces invalid UTF-8 by U+FFFD, so the value would differ from the one that was meant.
  return value.includes('\ufffd') ? `--${name} must be UTF-8` : undefined;
}

function namesOf(options: Options): string[] {
  return Object.keys(options).map((name) => `--${name}`);
}

function tokensOf(args: readonly string[], options: Options) {
  const types = Object.entries(options).map(([name, { value, short }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, short === undefined ? { type } : { type, short }] as const;
  });
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(types),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  return tokens;
}
