import { EACH } from './many-calls';
import { script } from './script';
import { CURRENT, DOUBT, IDENTITY } from './server-doubt';

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
