import { type User, parseUser } from '../../application';

/**
 * The key of a user's stream, e.g. `plant-store:{alice}:events`. The user is
 * percent-encoded, so the key is readable, two users never share one, and the
 * braces (which the encoding leaves no user with) make it one hash slot a user
 * on a Redis Cluster.
 */
export function streamKey(prefix: string, stream: string): string {
  return `${prefix}:{${encodeURIComponent(stream)}}:events`;
}

/**
 * Whose stream stands under `key`: the inverse of {@link streamKey}. `'foreign'`
 * where no stream of this service can, `'elsewhere'` where one of another
 * service does, whose longer prefix (`plant-store:eu`) begins with this one.
 */
export function userOfKey(prefix: string, key: string): User | 'foreign' | 'elsewhere' {
  const [, itsPrefix, encoded] = /^([\w.:-]+):\{([^{}]*)\}:events$/.exec(key) ?? [];
  if (itsPrefix === undefined || encoded === undefined) return 'foreign';
  const user = decoded(encoded);
  // Nothing but what streamKey makes: `%41` is no other way to write `A`.
  if (user === undefined || streamKey(itsPrefix, user) !== key) return 'foreign';
  if (itsPrefix === prefix) return user;
  return itsPrefix.startsWith(`${prefix}:`) ? 'elsewhere' : 'foreign';
}

function decoded(encoded: string): User | undefined {
  try {
    return parseUser(decodeURIComponent(encoded));
  } catch {
    return undefined;
  }
}
