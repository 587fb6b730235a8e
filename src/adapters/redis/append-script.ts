import { createHash } from 'node:crypto';

/**
 * The append, as one atomic Lua script.
 *
 * KEYS: the stream. ARGV: expected version, expected commit, commit id, maximum
 * number of entries that are read, then type and data of each event.
 *
 * Every check comes before the first write, because Redis does not roll back a
 * failed script. Redis itself also refuses an entry id that is not above the last
 * id of the stream, even if the entries were deleted.
 */
export const APPEND = `
local stream, version, base, commit = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local entries = redis.call('XRANGE', stream, version .. '-0', '+', 'COUNT', ARGV[4])

-- The fields of an entry are type, data, commit, in this order.
local known = ''
if version ~= '0' then
  local entry = table.remove(entries, 1)
  known = entry and entry[1] == version .. '-0' and entry[2][6]
end
if known ~= base then return {'reset'} end

if #entries > 0 then
  if entries[1][2][6] ~= commit then return {'conflict', entries} end
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
for i = 5, #ARGV, 2 do
  next = next + 1
  redis.call('XADD', stream, string.format('%.0f-0', next), 'type', ARGV[i], 'data', ARGV[i + 1], 'commit', commit)
end
return {'appended'}
`;

export const APPEND_SHA1 = createHash('sha1').update(APPEND).digest('hex');
