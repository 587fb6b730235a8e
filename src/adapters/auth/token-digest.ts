import { hash } from 'node:crypto';

/**
 * The SHA-256 of a token, in lower-case hexadecimal. Tokens are stored and looked
 * up by it, so that neither a memory dump nor the timing of a look-up discloses
 * one. Salt and key stretching would protect guessable secrets only; a token has
 * 256 random bits.
 */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}
