import type { CryptoKey, JWSHeaderParameters } from 'jose';

/** The keys that verify signed tokens. */
export interface JwtKeys {
  /** The accepted signature algorithms. They depend on the keys only, never on a token. */
  readonly algorithms: readonly string[];
  /** Changes when a key may have been removed: earlier verifications are then no longer valid. */
  readonly generation: number;
  /**
   * The key that verifies a token with this header; `undefined` if there is none.
   * Rejects with `AuthenticationUnavailable` if the keys cannot be fetched now.
   */
  find(header: JWSHeaderParameters): Promise<CryptoKey | Uint8Array | undefined>;
}

/** Minimum length of a secret, in bytes. */
export const MIN_SECRET_LENGTH = 32;

/** A secret shared with the issuer. It must be at least as long as the hash of an algorithm (RFC 7518, 3.2). */
export function sharedSecret(secret: Uint8Array): JwtKeys {
  if (secret.length < MIN_SECRET_LENGTH) throw new RangeError('the secret is too short to verify with');
  return {
    algorithms: ['HS256', 'HS384', 'HS512'].filter((name) => secret.length * 8 >= Number(name.slice(2))),
    generation: 0,
    find: async () => secret,
  };
}
