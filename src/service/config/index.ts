import { InvalidValue } from './parsers';
import type { ConfigProblem } from './problem';
import { rules } from './rules';
import { type Environment, unknownVariables } from './unknown-variables';
import { type Config, variables } from './variables';

export { MASK } from './masks';
export type { ModulePath } from './parsers';
export type { ConfigProblem } from './problem';
export { authenticates } from './rules';
export { type Config, variables } from './variables';

interface ReadOptions {
  /** Whether AUTH_… is read and checked; true by default. The command line needs no authentication. */
  readonly authentication?: boolean;
  /** Why the file of AUTH_TOKENS_FILE cannot be used; `undefined` if it can. By default the file is not checked. */
  readonly tokenFileProblem?: (path: string) => string | undefined;
}

/** Reads the environment, without any I/O. Returns either the configuration or all problems at once. */
export function readConfig(
  environment: Environment,
  { authentication = true, tokenFileProblem }: ReadOptions = {},
):
  | { readonly config: Config; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly ConfigProblem[] } {
  if (!authentication) environment = withoutAuthentication(environment);
  const problems = unknownVariables(environment);
  // Any other value is taken for production: `Production` and `prod`, too.
  const production = !['development', 'test'].includes(environment['NODE_ENV'] || 'development');
  const values: Record<string, unknown> = { production };
  for (const { name, fallback, parse } of variables) {
    // Empty counts as unset: compose files and `docker run -e NAME=` pass a variable without a value so.
    const written = environment[name] || fallback;
    if (written === undefined) continue;
    try {
      values[name] = parse(written);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      problems.push({ variable: name, rule: error.message, fix: error.fix });
    }
  }
  const config = values as Config;
  const reason = config.AUTH_TOKENS_FILE && tokenFileProblem?.(config.AUTH_TOKENS_FILE);
  if (reason !== undefined) {
    problems.push({
      variable: 'AUTH_TOKENS_FILE',
      rule: `names a file that cannot be used: ${reason}`,
      fix: 'correct the file, or make one: plant-store token new --user alice --file <path>',
    });
  }
  // Where a variable is broken or misspelled, the rules about others of its prefix would only report it as missing.
  const prefixesOf = ({ variable, about }: ConfigProblem) =>
    [variable, about ?? variable].map((name) => name.split('_', 1)[0]);
  const broken = new Set(problems.flatMap(prefixesOf));
  if (!authentication) broken.add('AUTH');
  const isSet = (name: string) => Boolean(environment[name]);
  problems.push(
    ...rules(config, isSet).filter((problem) => !prefixesOf(problem).some((each) => broken.has(each))),
  );
  return problems.length > 0 ? { problems } : { config };
}

function withoutAuthentication(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('AUTH_')));
}

/** One variable as it is in force, its secrets masked. */
export interface Setting {
  readonly name: string;
  readonly value: string | undefined;
  readonly source: 'default' | 'environment' | 'unset';
}

/** All variables as they are in force, for an environment in which `readConfig` found no problem. */
export function settings(environment: Environment): readonly Setting[] {
  return variables.map(({ name, fallback, mask = (written: string) => written }) => {
    const given = environment[name] || undefined;
    const written = given ?? fallback;
    if (written === undefined) return { name, value: undefined, source: 'unset' };
    return { name, value: mask(written), source: given === undefined ? 'default' : 'environment' };
  });
}
