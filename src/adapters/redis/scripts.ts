import { createHash } from 'node:crypto';
import type { RedisClient } from './client';

/** A Lua script. Redis executes it atomically. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

export function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Executes a script on keys of one slot. Redis gets its text only if it does not know its digest. */
export async function executeScript(
  client: RedisClient,
  { text, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.callBuffer('evalsha', sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return client.callBuffer('eval', text, keys.length, ...keys, ...args);
  }
}

/** A call of a script that makes many; see `EACH`. */
export interface Call {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** What a script needs to check the server. */
export interface Proof {
  /** The last keys: the id of the store, or none. */
  readonly keys: readonly string[];
  /** The first arguments. */
  readonly args: readonly [replicas: number, lag: number, id: string];
}

/** The keys and the arguments of one execution that makes these calls. */
export function inOneExecution(
  calls: readonly Call[],
  proof: Proof,
): [keys: string[], args: (string | number)[]] {
  const keys: string[] = [];
  const args: (string | number)[] = [...proof.args];
  for (const call of calls) {
    for (const key of call.keys) keys.push(key);
    args.push(call.args.length);
    for (const arg of call.args) args.push(arg);
  }
  keys.push(...proof.keys);
  return [keys, args];
}

export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** The reply of a page: 1 if there are more entries, else 0, and the packed entries. */
export type PackedPage = readonly [more: number, packed: Buffer];

/**
 * Lua: up to `limit` entries from `version` on, and whether there are more. At least two of them, then as many as fit
 * into `bytes`.
 *
 * They are packed into one string, which `PackedEntries` unpacks. ioredis would parse seven strings and two arrays
 * per entry, which takes longer than all other work of loading a history. XRANGE counts entries, not bytes, so they
 * are read in growing steps.
 */
const PAGE = `
local function pack(id, fields)
  if #fields ~= 6 or fields[1] ~= 'type' or fields[3] ~= 'data' or fields[5] ~= 'commit' then
    return struct.pack('>I4c0I4', #id, id, 0xffffffff)
  end
  local type, data, commit = fields[2], fields[4], fields[6]
  return struct.pack('>I4c0I4c0I4c0I4c0', #id, id, #type, type, #data, data, #commit, commit)
end

local function page(stream, version, limit, bytes)
  local packed, size, step, from = {}, 0, 2, version .. '-0'
  while true do
    local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', step)
    for _, entry in ipairs(entries) do
      local text = pack(entry[1], entry[2])
      size = size + #text
      if #packed == limit or (#packed > 1 and size > bytes) then return 1, table.concat(packed) end
      packed[#packed + 1] = text
    end
    if #entries < step then return 0, table.concat(packed) end
    from = '(' .. entries[#entries][1]
    step = math.max(1, math.min(4 * step, limit + 1 - #packed, math.floor(#packed * (bytes - size) / size)))
  end
end
`;

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
const DOUBT = `
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

/** Lua: the last id that a stream has ever had; 0-0 if there is no such stream. */
export const LAST_ID = `
local function lastId(stream)
  local facts = redis.pcall('XINFO', 'STREAM', stream)
  for i = 1, #facts, 2 do
    if facts[i] == 'last-generated-id' then return facts[i + 1] end
  end
  return '0-0'
end
`;

/** Lua: whether the stream begins after a head, because its first events were archived. */
const ARCHIVED = `
local function entryOf(version)
  return (version == '0' and '1' or version) .. '-0'
end

local function beginsAfter(stream, version)
  local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  return tonumber(string.match(oldest[1], '^%d+')) > math.max(1, tonumber(version))
end
`;

/**
 * Lua: whether a stream has a base, and not the event of its head. Then its events were deleted, and those that it may
 * have are another history.
 *
 * The scripts call it at version 0 only: at any other head the stream must have the event of that head.
 */
const LOST = `
local function hasLostBase(stream, base)
  local head = redis.pcall('HMGET', base, 'version', 'commit')
  if head.err then
    -- This Redis user may not read a base. XRANGE, which it may execute, fails if there is one: then the script fails.
    if not redis.pcall('XRANGE', base, '-', '+', 'COUNT', 1).err then return false end
    redis.call('HMGET', base, 'version')
  end
  if not head[1] then return false end
  local entry = redis.call('XRANGE', stream, head[1] .. '-0', head[1] .. '-0')[1]
  return not entry or entry[2][6] ~= head[2]
end
`;

/**
 * Lua: the replies of many calls of one execution. Every call has `keyCount` keys. An error of a call is its reply, and
 * the other calls are made.
 *
 * ARGV: three for `doubt`, then for each call the number of its arguments, and these. `one` gets the places of its first
 * key and of its first argument, and the number of its arguments.
 *
 * A replica refuses writes: as a reply of a single call, the client would not see that its server was demoted.
 */
const EACH = `
local function each(keyCount, one)
  local replies, key, at = {}, 1, 4
  while at <= #ARGV do
    local length = tonumber(ARGV[at])
    local made, reply = pcall(one, key, at + 1, length)
    if not made then
      local text = type(reply) == 'table' and reply.err or reply
      reply = string.find(text, 'READONLY', 1, true) and {'replica'} or redis.error_reply(text)
    end
    replies[#replies + 1] = reply
    key, at = key + keyCount, at + 1 + length
  end
  return replies
end
`;

/**
 * Reads a page of each stream.
 *
 * KEYS: of each stream its events and its base; then the id of the store except on a Cluster. Arguments of a stream: first
 * version, maximum number of entries, maximum size in bytes. Returns for each stream 1 if there are more entries, else 0,
 * and the packed entries; or `archived`; or `unreadable` if the event of the base is missing; or a doubt.
 */
export const READ = script(`${PAGE}${ARCHIVED}${LOST}${CURRENT}${EACH}
local why = doubt(ARGV[1], ARGV[2], ARGV[3])
return each(2, function(key, at)
  local stream, version = KEYS[key], ARGV[at]
  if why then return {why} end
  if version == '0' and hasLostBase(stream, KEYS[key + 1]) then return {'unreadable'} end
  local more, packed = page(stream, version, tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]))
  local first = packed ~= '' and struct.unpack('>I4c0', packed)
  if first and first ~= entryOf(version) and beginsAfter(stream, version) then return {'archived'} end
  return {more, packed}
end)
`);

/**
 * Lua: adds an entry to the feed of a bucket, `0-<sequence number>`. Redis chooses the number, one above the last one
 * ever. With a `length`, it also trims the oldest entries to about so many.
 *
 * The entry has the name of the stream as its key has it: between that of the bucket and `:events`.
 */
const PUBLISH = `
local function publish(feed, length, stream, version, commit)
  local name = string.sub(stream, #feed - 3, -8)
  if length ~= '' then
    redis.call('XADD', feed, 'MAXLEN', '~', length, '0-*', 'stream', name, 'version', version, 'commit', commit)
  else
    redis.call('XADD', feed, '0-*', 'stream', name, 'version', version, 'commit', commit)
  end
end
`;

/**
 * The appends to many streams.
 *
 * KEYS: of each append the stream, its base, the feed of its bucket; then the id of the store except on a Cluster.
 * Arguments of an append: expected version, expected commit, commit id, maximum number and size of the entries that a
 * conflict returns, the length to which the feed is trimmed (empty: it is not), and the text of the commit in the entry of
 * the feed, see `commitText`; then type and data of each event.
 *
 * Every check of an append comes before its first write, because Redis does not roll back a failed script. Redis itself
 * also refuses an entry id that is not above the last id of the stream, even if the entries were deleted.
 *
 * A result without a write is what a read would show, so the server must be the primary; for a write Redis checks it.
 * The id of the store is checked for both.
 *
 * The feed is written first: if that fails, nothing was written. If Redis refuses the first event (see above), there is
 * an entry of events that do not exist, which a consumer finds by reading them.
 *
 * The common case comes before the functions of the others, because Lua makes each function anew in each execution.
 */
export const APPEND = script(`${IDENTITY}${PUBLISH}${EACH}
local replicas, lag, id = ARGV[1], ARGV[2], ARGV[3]
local isAnother = isAnotherStore(id)

return each(3, function(key, at, length)
local stream, version, base, commit = KEYS[key], ARGV[at], ARGV[at + 1], ARGV[at + 2]
local before, count = at + 6, (length - 7) / 2

local function write()
  local last = string.format('%.0f', version + count)
  publish(KEYS[key + 2], ARGV[at + 5], stream, last, ARGV[at + 6])
  for i = 1, count do
    local id = (i == count and last or string.format('%.0f', version + i)) .. '-0'
    redis.call('XADD', stream, id, 'type', ARGV[before + 2 * i - 1], 'data', ARGV[before + 2 * i], 'commit', commit)
  end
  return {'appended'}
end

local entries = isAnother and {} or redis.call('XRANGE', stream, version .. '-0', '+', 'COUNT', 2)
-- The fields of an entry are type, data, commit, in this order.
local isAtHead = #entries == 1 and entries[1][1] == version .. '-0' and entries[1][2][6] == base
if isAtHead and version ~= '0' then return write() end

${PAGE}${ARCHIVED}${LOST}${DOUBT}
if isAnother then return {doubt(replicas, lag, id)} end
if version == '0' and hasLostBase(stream, KEYS[key + 1]) then
  return {doubt(replicas, lag, id) or 'unreadable'}
end
if entries[1] and entries[1][1] ~= entryOf(version) and beginsAfter(stream, version) then
  return {doubt(replicas, lag, id) or 'archived'}
end

-- Whether the events of this append are recorded from this entry on. Another instance may have minted the same commit
-- id, so types and data are compared as well.
local function isRecorded(first)
  local recorded = redis.call('XRANGE', stream, first, '+', 'COUNT', count)
  for i = 1, count do
    local fields = recorded[i] and recorded[i][2] or {}
    local type, data = ARGV[before + 2 * i - 1], ARGV[before + 2 * i]
    if fields[2] ~= type or fields[4] ~= data or fields[6] ~= commit then return false end
  end
  return true
end

local known = ''
if version ~= '0' then
  local entry = table.remove(entries, 1)
  known = entry and entry[1] == version .. '-0' and entry[2][6]
end
if known ~= base then return {doubt(replicas, lag, id) or 'reset'} end
if #entries == 0 then return write() end

if entries[1][2][6] ~= commit or not isRecorded(entries[1][1]) then
  local why = doubt(replicas, lag, id)
  if why then return {why} end
  return {'conflict', page(stream, version, tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]))}
end
-- The append was recorded before and its reply was lost. This branch writes, too: a server that was demoted to a
-- replica refuses the write, and WAIT counts the replicas that have the last write of this connection. The last id
-- of the stream does not change; after a deletion it is higher than the id of the last entry.
local facts = redis.call('XINFO', 'STREAM', stream)
for i = 1, #facts, 2 do
  if facts[i] == 'last-generated-id' then redis.call('XSETID', stream, facts[i + 1]) end
end
return {'appended'}
end)
`);
