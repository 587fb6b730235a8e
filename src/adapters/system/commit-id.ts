import { randomBytes } from 'node:crypto';

/**
 * A fresh commit id: the time of day a person can read, and 64 random bits,
 * e.g. `2026-11-20T21:20:33.123Z-9f2c51d07b3a88e4`. It only has to be unique
 * among the appends that try for the same place in the same stream; the time
 * saves the storage format a field of its own.
 */
export function mintCommitId(): string {
  return `${new Date().toISOString()}-${randomBytes(8).toString('hex')}`;
}
