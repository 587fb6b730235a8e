import { createHash } from 'node:crypto';

/**
 * The append, decided and done in one step inside Redis.
 *
 * KEYS: the stream. ARGV: expected version, expected commit, this commit, how
 * many newer entries a conflict may bring, then type and data of each event.
 *
 * Every check comes before the first write, since a script that fails half way
 * is not rolled back. One more check is Redis' own: it refuses an entry id that
 * is not above the stream's last one, also where the entries are gone.
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
  -- The append was recorded before and its reply was lost. Here too something is written: a server that was made a
  -- replica meanwhile refuses it, and WAIT counts the replicas that have what this connection wrote last. The last id
  -- of the stream stays what it is, which is not that of the last entry where the tail was deleted.
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
