import { randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 8;
/** Asked for at once: a system call for each id would cost more than all the rest of it. */
const IDS_AT_ONCE = 512;

/**
 * Mints commit ids: the time of day a person can read, and 64 random bits, e.g.
 * `2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4`. One only has to be unique among
 * the appends that try for the same place in the same stream; the time saves
 * the storage format a field of its own.
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
