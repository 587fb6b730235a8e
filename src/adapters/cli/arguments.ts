import { parseArgs } from 'node:util';
import { type User, USER_RULE, parseUser } from '../../application';
import { WrongUsage } from './exit';

export interface Option {
  /** For people; with range and unit. */
  readonly meaning: string;
  /** What stands for its value in the usage; absent for one that is there or not. */
  readonly value?: string;
  readonly short?: string;
  readonly repeatable?: true;
  readonly required?: true;
}

export type Options = Readonly<Record<string, Option>>;

/** Of every command. */
export const COMMON: Options = {
  help: { short: 'h', meaning: 'this text' },
};

/** What was typed behind the name of a command, checked against the options that it has. */
export class Arguments {
  private constructor(
    private readonly values: ReadonlyMap<string, readonly string[]>,
    readonly positional: string | undefined,
  ) {}

  /** @throws {WrongUsage} */
  static parse(args: readonly string[], options: Options, positional?: string): Arguments {
    const { values, positionals } = understood(args, { ...COMMON, ...options });
    if (positionals.length > (positional === undefined ? 0 : 1))
      throw new WrongUsage(`one argument too many: ${JSON.stringify(positionals.at(-1))}`);
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

  /** A whole number from `least` up. */
  number(option: string, least: number): number | undefined {
    const text = this.text(option);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^[0-9]+$/.test(text) || value < least)
      throw new WrongUsage(`--${option} must be a whole number from ${least}`);
    return value;
  }

  /** The one user of a command that requires one. */
  user(): User {
    return this.users()[0]!;
  }

  /** Each once, in the order given. */
  users(): readonly User[] {
    return [...new Set(this.values.get('user') ?? [])].map((name) => {
      const user = parseUser(name);
      if (user === undefined) throw new WrongUsage(`--user must be ${USER_RULE}`);
      return user;
    });
  }
}

function understood(args: readonly string[], options: Options) {
  const parsed = parsedOrRefused(args, options);
  const values = new Map<string, string[]>();
  for (const token of parsed.tokens) {
    if (token.kind !== 'option') continue;
    const earlier = values.get(token.name) ?? [];
    if (earlier.length > 0 && !options[token.name]?.repeatable)
      throw new WrongUsage(`--${token.name} is given twice`);
    // Node replaces what is not UTF-8 by this: what is meant is something else than what would be looked for, or stored.
    if (token.value?.includes('\ufffd')) throw new WrongUsage(`--${token.name} must be UTF-8`);
    values.set(token.name, [...earlier, token.value ?? '']);
  }
  return { values, positionals: parsed.positionals };
}

function parsedOrRefused(args: readonly string[], options: Options) {
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
    // Its first sentence is for people, with the option in it; what follows is about a rarer slip.
    throw new WrongUsage((error as Error).message.split('. ', 1)[0]);
  }
}
