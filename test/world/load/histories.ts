import type { Redis } from 'ioredis';
import { keyOf } from '../../support/keys';

/** The content of each user's stream. */
export interface StoredHistory {
  readonly events: number;
  /** Characters of each name; 12 by default. */
  readonly nameLength?: number;
  /** Every n-th event deletes the plant that the previous event created; absent: none does. */
  readonly deletionEvery?: number;
}

/** Small, so that no call keeps Redis busy for long. */
const EVENTS_PER_CALL = 10_000;
/** A script must take less than the socket timeout. */
const BYTES_PER_CALL = 8 * 2 ** 20;

/** Writes entries as scripts.ts and plant-codec.ts do; the service reads them in the test, so a difference shows. */
const WRITE = `
local first, last, name, deletionEvery = tonumber(ARGV[1]), tonumber(ARGV[2]), string.rep('n', ARGV[3]), tonumber(ARGV[4])
for version = first, last do
  local kind, data = 'PlantCreated', nil
  if deletionEvery > 0 and version % deletionEvery == 0 then
    kind, data = 'PlantDeleted', '{"id":' .. (version - 1) .. '}'
  else
    data = '{"id":' .. version .. ',"name":"' .. name .. '"}'
  end
  redis.call('XADD', KEYS[1], version .. '-0', 'type', kind, 'data', data, 'commit', '2026-01-01T00:00:00.000Z-' .. string.format('%016x', version))
end
`;

/** Writes this history for each of these users, under the default key prefix. About 400,000 events per second. */
export async function writeHistories(
  redis: Redis,
  users: readonly string[],
  history: StoredHistory,
): Promise<void> {
  const { events, nameLength = 12, deletionEvery = 0 } = history;
  const step = Math.max(1, Math.min(EVENTS_PER_CALL, Math.floor(BYTES_PER_CALL / nameLength)));
  for (const user of users) {
    for (let first = 1; first <= events; first += step) {
      const last = Math.min(events, first + step - 1);
      await redis.eval(WRITE, 1, keyOf(user), first, last, nameLength, deletionEvery);
    }
  }
}

/** `count` names, e.g. `herd0`, `herd1` …. */
export function userNames(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}
