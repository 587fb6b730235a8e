import { Broken } from './parsers';
import type { ConfigProblem } from './problem';
import { rules } from './rules';
import { unknownVariables } from './slips';
import { type Config, variables } from './variables';

export { MASK } from './masks';
export type { ConfigProblem } from './problem';
export { authenticates } from './rules';
export { type Config, variables } from './variables';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment. All that is wrong is told at once. Without `callers` it is for somebody who asks nobody
 * who he is, the command line: then what AUTH_… says is neither looked at nor missed.
 */
export function readConfig(
  environment: Environment,
  { callers } = { callers: true },
):
  | { readonly config: Config; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly ConfigProblem[] } {
  if (!callers) environment = withoutCallers(environment);
  const problems = unknownVariables(environment);
  const values: Record<string, unknown> = { production: environment['NODE_ENV'] === 'production' };
  for (const { name, fallback, parse } of variables) {
    // Empty counts as unset: so compose files and `docker run -e NAME=` leave a variable they were given nothing for.
    const written = environment[name] || fallback;
    if (written === undefined) continue;
    try {
      values[name] = parse(written);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      problems.push({ variable: name, rule: error.message, fix: error.fix });
    }
  }
  const config = values as Config;
  // Where a value is broken, or its name, the rules about its like would only complain that it is missing.
  const family = ({ variable }: ConfigProblem) => variable.split('_', 1)[0];
  const broken = new Set(problems.map(family));
  if (!callers) broken.add('AUTH');
  problems.push(...rules(config).filter((problem) => !broken.has(family(problem))));
  return problems.length > 0 ? { problems } : { config };
}

function withoutCallers(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('AUTH_')));
}

/** One variable as it is in force; of a secret, that there is one. */
export interface Setting {
  readonly name: string;
  readonly value: string | undefined;
  readonly source: 'default' | 'environment' | 'unset';
}

/** All that `readConfig` went by, where it found nothing wrong. */
export function settings(environment: Environment): readonly Setting[] {
  return variables.map(({ name, fallback, mask = (written: string) => written }) => {
    const given = environment[name] || undefined;
    const written = given ?? fallback;
    if (written === undefined) return { name, value: undefined, source: 'unset' };
    return { name, value: mask(written), source: given === undefined ? 'default' : 'environment' };
  });
}
