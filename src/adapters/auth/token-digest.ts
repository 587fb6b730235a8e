import { hash } from 'node:crypto';

/**
 * What stands for a token wherever tokens are kept or looked up: its SHA-256,
 * in lower-case hexadecimal. So no table holds a token, and neither the time
 * that a look-up takes nor a memory dump tells how much of a guess was right.
 * No salt and no stretching: they protect guessable secrets, and a token is
 * 256 random bits.
 */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}
