import { script } from './script';

/** What a script needs to check the server. */
export interface Proof {
  /** The last keys: the id of the store, or none. */
  readonly keys: readonly string[];
  /** The first arguments. */
  readonly args: readonly [replicas: number, lag: number, id: string];
}

/** Lua: whether the store does not have this id, in the stream that is the last of KEYS; if it is empty, any store will do. */
export const IDENTITY = `
local function isAnotherStore(id)
  if id == '' then return false end
  local entry = redis.call('XRANGE', KEYS[#KEYS], '1-0', '1-0')[1]
  return not entry or entry[2][4] ~= id
end
`;

/**
 * Lua: why the server must not answer: because another one may be the primary, so that what this one has may be stale,
 * or because it has another store; nil if it is certainly current.
 *
 * A primary that is cut off still calls itself master, and another one may acknowledge writes. With
 * `min-replicas-to-write`, it is current as long as `replicas` replicas have confirmed its writes within the last `lag`
 * seconds: none of them was promoted. The lags are computed at this moment, unlike `min_slaves_good_slaves`, which is
 * one second old, or older after the server was frozen. (A lag is -1 in the first milliseconds of a second: Redis
 * subtracts the times of two clocks, and one of them is coarse.) `replicas` is negative on a Cluster without
 * `min-replicas-to-write`, whose servers redirect reads by themselves once they are demoted.
 */
export const DOUBT = `
local function doubt(replicas, lag, id)
  replicas, lag = tonumber(replicas), tonumber(lag)
  local info = replicas >= 0 and redis.call('INFO', 'replication')
  if info and not string.find(info, 'role:master', 1, true) then return 'replica' end
  if isAnotherStore(id) then return 'identity' end
  if replicas <= 0 then return end
  for behind in string.gmatch(info, 'state=online,offset=%d+,lag=(%-?%d+)') do
    if tonumber(behind) <= lag then replicas = replicas - 1 end
  end
  if replicas > 0 then return 'unconfirmed' end
end
`;

export const CURRENT = IDENTITY + DOUBT;

/** What the scripts answer instead if the server may not be the primary, or has another store. */
const DOUBTS = ['replica', 'identity', 'unconfirmed'] as const;

export type Doubt = (typeof DOUBTS)[number];

/** The doubt in the first part of a reply; `undefined` if there is none. */
export function doubtOf(status: unknown): Doubt | undefined {
  const text = String(status);
  return DOUBTS.find((doubt) => doubt === text);
}

/** Checks the server alone. KEYS: the id of the store, or none. ARGV: as `doubt` of the other scripts. */
export const CHECK_PRIMARY = script(`${CURRENT}
return {doubt(ARGV[1], ARGV[2], ARGV[3]) or 'current'}
`);
