import { createHash } from 'node:crypto';
import type { Client } from './client';

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
  client: Client,
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
 * Reads a page of a stream.
 *
 * KEYS: the stream. ARGV: first version, maximum number of entries, maximum size in bytes. Returns 1 if there are more
 * entries, else 0, and the packed entries; or `archived`.
 */
export const READ = script(`${PAGE}${ARCHIVED}
local stream, version = KEYS[1], ARGV[1]
local more, packed = page(stream, version, tonumber(ARGV[2]), tonumber(ARGV[3]))
local first = packed ~= '' and struct.unpack('>I4c0', packed)
if first and first ~= entryOf(version) and beginsAfter(stream, version) then return {'archived'} end
return {more, packed}
`);

/**
 * The append.
 *
 * KEYS: the stream. ARGV: expected version, expected commit, commit id, maximum number and size of the entries that a
 * conflict returns, then type and data of each event.
 *
 * Every check comes before the first write, because Redis does not roll back a failed script. Redis itself also
 * refuses an entry id that is not above the last id of the stream, even if the entries were deleted.
 */
export const APPEND = script(`${PAGE}${ARCHIVED}
local stream, version, base, commit = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local entries = redis.call('XRANGE', stream, version .. '-0', '+', 'COUNT', 2)

if entries[1] and entries[1][1] ~= entryOf(version) and beginsAfter(stream, version) then
  return {'archived'}
end

-- Whether the events of this append are recorded from this entry on. Another instance may have minted the same commit
-- id, so types and data are compared as well.
local function isRecorded(first)
  local count = (#ARGV - 5) / 2
  local recorded = redis.call('XRANGE', stream, first, '+', 'COUNT', count)
  for i = 1, count do
    local fields = recorded[i] and recorded[i][2] or {}
    if fields[2] ~= ARGV[4 + 2 * i] or fields[4] ~= ARGV[5 + 2 * i] or fields[6] ~= commit then return false end
  end
  return true
end

-- The fields of an entry are type, data, commit, in this order.
local known = ''
if version ~= '0' then
  local entry = table.remove(entries, 1)
  known = entry and entry[1] == version .. '-0' and entry[2][6]
end
if known ~= base then return {'reset'} end

if #entries > 0 then
  if entries[1][2][6] ~= commit or not isRecorded(entries[1][1]) then
    return {'conflict', page(stream, version, tonumber(ARGV[4]), tonumber(ARGV[5]))}
  end
  -- The append was recorded before and its reply was lost. This branch writes, too: a server that was demoted to a
  -- replica refuses the write, and WAIT counts the replicas that have the last write of this connection. The last id
  -- of the stream does not change; after a deletion it is higher than the id of the last entry.
  local facts = redis.call('XINFO', 'STREAM', stream)
  for i = 1, #facts, 2 do
    if facts[i] == 'last-generated-id' then redis.call('XSETID', stream, facts[i + 1]) end
  end
  return {'appended'}
end

local next = tonumber(version)
for i = 6, #ARGV, 2 do
  next = next + 1
  redis.call('XADD', stream, string.format('%.0f-0', next), 'type', ARGV[i], 'data', ARGV[i + 1], 'commit', commit)
end
return {'appended'}
`);
