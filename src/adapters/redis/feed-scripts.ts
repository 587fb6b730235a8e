import { script } from './script';
import { CURRENT } from './server-doubt';
import { LAST_ID } from './stream-scripts';

/** Lua: the newest sequence number of a feed, and whether a position is in it. */
const POSITIONS = `${LAST_ID}
local feed, erased = KEYS[1], KEYS[2]

local function entriesFrom(sequence, limit)
  return redis.call('XRANGE', feed, '0-' .. sequence, '+', 'COUNT', limit)
end

local function sequenceOf(entry)
  return string.match(entry[1], '^0%-(%d+)$')
end

-- Also if its entry was erased; 0 for a feed that does not exist.
local function newest()
  return tonumber(string.match(lastId(feed), '%d+$'))
end

local function commitOfErased(sequence)
  return redis.call('HMGET', erased, string.format('%.0f', sequence))[1]
end

-- The status of a position that has no entry, where the feed continues with \`entry\`.
local function statusWithoutEntry(sequence, commit, entry)
  local known, last = '', newest()
  if sequence > 0 then
    known = sequence <= last and commitOfErased(sequence)
    if not known then return sequence > last and 'reset' or 'trimmed' end
  end
  if known ~= commit then return 'reset' end
  local continues = entry and tonumber(sequenceOf(entry)) or last + 1
  for missing = sequence + 1, continues - 1 do
    if not commitOfErased(missing) then return 'trimmed' end
  end
  return 'read'
end
`;

/**
 * Reads a page of the feed of a bucket.
 *
 * KEYS: the feed, the erased positions, and the id of the store except on a Cluster. ARGV: three for `doubt`, sequence
 * number and commit of the position, maximum number of entries. Returns 1 if there are more entries, else 0, and the
 * entries; or `reset`; or `trimmed`; or a doubt.
 */
export const READ_FEED = script(`${CURRENT}${POSITIONS}
local why = doubt(ARGV[1], ARGV[2], ARGV[3])
if why then return {why} end
local sequence, commit, limit = ARGV[4], ARGV[5], tonumber(ARGV[6])
local entries = entriesFrom(sequence, limit + 2)
if entries[1] and sequenceOf(entries[1]) == sequence then
  local known = table.remove(entries, 1)
  if known[2][6] ~= commit then return {'reset'} end
else
  local status = statusWithoutEntry(tonumber(sequence), commit, entries[1])
  if status ~= 'read' then return {status} end
end
local more = 0
while #entries > limit do
  table.remove(entries)
  more = 1
end
return {more, entries}
`);

/** The newest position of a feed. KEYS and ARGV: as the first of READ_FEED. Returns its number and commit; or a doubt. */
export const FEED_END = script(`${CURRENT}${POSITIONS}
local why = doubt(ARGV[1], ARGV[2], ARGV[3])
if why then return {why} end
local last = newest()
local sequence = string.format('%.0f', last)
local entry = entriesFrom(sequence, 1)[1]
return {sequence, entry and entry[2][6] or last > 0 and commitOfErased(last) or ''}
`);

/**
 * Erases the entries of a stream from a part of its feed, and keeps their positions. At the end, it forgets positions
 * after which entries were trimmed.
 *
 * KEYS: the feed, the erased positions. ARGV: the name of the stream as in its key, the first and the last sequence number
 * of the part, maximum number of entries. Returns the number to continue from; 0 at the end.
 */
export const ERASE_FROM_FEED = `${POSITIONS}
local name, from, to, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local entries = redis.call('XRANGE', feed, '0-' .. from, '0-' .. to, 'COUNT', limit)
for _, entry in ipairs(entries) do
  if entry[2][2] == name then
    redis.call('HSET', erased, sequenceOf(entry), entry[2][6])
    redis.call('XDEL', feed, entry[1])
  end
end
if #entries == limit then return tonumber(sequenceOf(entries[limit])) + 1 end
local first = entriesFrom('0', 1)[1]
local kept = first and tonumber(sequenceOf(first)) or newest() + 1
while commitOfErased(kept - 1) do kept = kept - 1 end
for _, sequence in ipairs(redis.call('HKEYS', erased)) do
  if tonumber(sequence) < kept then redis.call('HDEL', erased, sequence) end
end
return 0
`;
