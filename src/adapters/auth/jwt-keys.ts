import type { CryptoKey, JWSHeaderParameters } from 'jose';

/** What signed tokens are verified with. */
export interface JwtKeys {
  /** The algorithms a token may be signed with. They go with the kind of the keys; nothing in a token adds to them. */
  readonly algorithms: readonly string[];
  /** Changes whenever a key may have gone: what was verified before may not hold any more. */
  readonly generation: number;
  /**
   * The key that a token with this header is to be verified with, or `undefined` where there is none.
   * Rejects with `AuthenticationUnavailable` where that cannot be learned now.
   */
  find(header: JWSHeaderParameters): Promise<CryptoKey | Uint8Array | undefined>;
}

/** What a secret must have at least, in bytes. */
export const MIN_SECRET_LENGTH = 32;

/** A secret shared with whoever signs. A hash is on only where the secret is as long as it (RFC 7518, 3.2). */
export function sharedSecret(secret: Uint8Array): JwtKeys {
  if (secret.length < MIN_SECRET_LENGTH) throw new RangeError('the secret is too short to verify with');
  return {
    algorithms: ['HS256', 'HS384', 'HS512'].filter((name) => secret.length * 8 >= Number(name.slice(2))),
    generation: 0,
    find: async () => secret,
  };
}
