import { hash } from 'node:crypto';

/**
 * The SHA-256 of a token, in lower-case hexadecimal. Tokens are stored and looked
 * up by it, so that the token file discloses none, and the timing of a look-up
 * helps no guess. Salt and key stretching would protect guessable secrets only; a
 * token has 256 random bits.
 */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}
