import { randomInt } from 'node:crypto';

const RANDOM_DIGITS = 6;

/**
 * Mints a commit id of 19 digits: the Unix time in milliseconds, and six random digits.
 * For example `1795209633123482913`, at 2026-11-20T21:20:33.123Z.
 *
 * It is the text of a 64-bit integer (until the year 2262), which Redis keeps in 10 bytes. Two instances can mint the
 * same id in one millisecond, so the append script compares the events, too (decision record 0003).
 */
export function mintCommit(): string {
  return `${Date.now()}${String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0')}`;
}
