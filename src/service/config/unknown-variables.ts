import { nearest } from '../../adapters/cli/nearest';
import type { ConfigProblem } from './problem';
import { variables } from './variables';

export type Environment = Readonly<Record<string, string | undefined>>;

const KNOWN = [...variables.map(({ name }) => name), 'NODE_ENV'];
/** `AUTH_` of `AUTH_TOKENS`; a variable of one word has none. */
const OUR_PREFIXES = new Set(variables.map(({ name }) => prefixOf(name)).filter(Boolean));
// What systemd sets, what Kubernetes and Docker links set in every container for a service that is called "redis" (or
// "auth", …), and the image that the tests use.
const FOREIGN =
  /_DIRECTORY$|^LOG_NAMESPACE$|^[A-Z]+_ENV_|_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP)\w*)?$|_NAME$|^REDIS_IMAGE$/;

/** A name that is nearly one of ours, or has a prefix of ours, is most likely misspelled, and would do nothing. */
export function unknownVariables(environment: Environment): ConfigProblem[] {
  return Object.keys(environment)
    .filter((name) => !KNOWN.includes(name))
    .flatMap((name) => {
      const meant = nearMiss(name, environment) ?? nearestOfPrefix(name);
      if (meant === undefined) return [];
      const fix = `did you mean ${meant}? If not, unset it`;
      return [{ variable: name, rule: 'is not a variable of this service', fix, about: meant }];
    });
}

/** The unset variable that differs from `name` by a typo, in case or underscores, or by its first word. */
function nearMiss(name: string, environment: Environment): string | undefined {
  const unset = KNOWN.filter((known) => environment[known] === undefined);
  const letters = unset.map(lettersOf);
  const written = lettersOf(name);
  const near = nearest(written, letters, 1);
  if (near !== undefined) return unset[letters.indexOf(near)];
  return unset.find(
    (known) => written.length >= MIN_REST && written === lettersOf(known.slice(prefixOf(known).length)),
  );
}

/** Names that are shorter, such as `LEVEL`, `URL` and `STORE`, mean many things. */
const MIN_REST = 7;

function lettersOf(name: string): string {
  return name.replaceAll(/[_-]/g, '').toUpperCase();
}

function nearestOfPrefix(name: string): string | undefined {
  const prefix = prefixOf(name);
  if (!OUR_PREFIXES.has(prefix) || FOREIGN.test(name)) return undefined;
  const ofPrefix = KNOWN.filter((known) => known.startsWith(prefix));
  return nearest(name, ofPrefix);
}

function prefixOf(name: string): string {
  return /^(?:[A-Z]+_)?/.exec(name)![0];
}
