import type { ConfigProblem } from './problem';
import { variables } from './variables';

const OUR_PREFIX = /^(?:AUTH|REDIS|EVENT|STORE|CACHE|SHUTDOWN|SNAPSHOT|BODY|REQUEST|LOG|MAX)_/;
// What Kubernetes and Docker links set in every container for a service that is called "redis" (or "auth", …), and
// the image that the tests use.
const FOREIGN =
  /^[A-Z]+_ENV_|_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP)\w*)?$|_NAME$|^REDIS_IMAGE$/;

/** A name with a prefix of ours that is no variable is most likely misspelled, and would silently do nothing. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): ConfigProblem[] {
  const known = variables.map(({ name }) => name);
  return Object.keys(environment)
    .filter((name) => OUR_PREFIX.test(name) && !FOREIGN.test(name) && !known.includes(name))
    .map((name) => ({
      variable: name,
      rule: 'is not a variable of this service',
      fix: `did you mean ${nearest(name, known)}? If not, unset it`,
    }));
}

function nearest(name: string, known: readonly string[]): string {
  const common = (other: string) => {
    let length = 0;
    while (length < name.length && name[length] === other[length]) length++;
    return length - Math.abs(name.length - other.length) / 100;
  };
  return known.reduce((best, other) => (common(other) > common(best) ? other : best));
}
