import { randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 8;
/** Random bytes are fetched for this many ids at once: a system call per id would dominate the cost. */
const IDS_AT_ONCE = 512;

/**
 * Mints commit ids: the time and 64 random bits, for example
 * `2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4`. They are unique enough for any
 * store. A store that also compares the events may mint shorter ones.
 */
export function commitIds(): () => string {
  const random = Buffer.alloc(IDS_AT_ONCE * RANDOM_BYTES);
  let used = random.length;
  let [millisecond, time] = [NaN, ''];
  return () => {
    if (used === random.length) {
      randomFillSync(random);
      used = 0;
    }
    const now = Date.now();
    if (now !== millisecond) [millisecond, time] = [now, new Date(now).toISOString()];
    return `${time}-${random.toString('hex', used, (used += RANDOM_BYTES))}`;
  };
}
