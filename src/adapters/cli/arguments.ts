import { parseArgs } from 'node:util';
import { type User, USER_RULE, parseUser } from '../../application';
import { WrongUsage } from './exit';

export interface Option {
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

  /** @throws {WrongUsage} */
  static parse(args: readonly string[], options: Options, positional?: string): Arguments {
    const { values, positionals } = parseOptions(args, { ...COMMON, ...options });
    if (positionals.length > (positional === undefined ? 0 : 1))
      throw new WrongUsage(`unexpected argument: ${JSON.stringify(positionals.at(-1))}`);
    if (!values.has('help')) {
      for (const [name, { required, value }] of Object.entries(options))
        if (required && !values.has(name)) throw new WrongUsage(`--${name} ${value ?? ''} is required`);
    }
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

function parseOptions(args: readonly string[], options: Options) {
  const parsed = parseTokens(args, options);
  const values = new Map<string, string[]>();
  for (const token of parsed.tokens) {
    if (token.kind !== 'option') continue;
    const earlier = values.get(token.name) ?? [];
    if (earlier.length > 0 && !options[token.name]?.repeatable)
      throw new WrongUsage(`--${token.name} is given twice`);
    // Node replaces invalid UTF-8 by U+FFFD, so the value would differ from the one that was meant.
    if (token.value?.includes('\ufffd')) throw new WrongUsage(`--${token.name} must be UTF-8`);
    values.set(token.name, [...earlier, token.value ?? '']);
  }
  return { values, positionals: parsed.positionals };
}

function parseTokens(args: readonly string[], options: Options) {
  const types = Object.entries(options).map(([name, { value, short }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, short === undefined ? { type, multiple: true } : { type, short, multiple: true }] as const;
  });
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries(types),
      allowPositionals: true,
      tokens: true,
    });
  } catch (error) {
    // The first sentence names the option; the rest is advice about an unusual case.
    throw new WrongUsage((error as Error).message.split('. ', 1)[0]);
  }
}
