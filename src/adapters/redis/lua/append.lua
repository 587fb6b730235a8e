--- @include "guard"
--- @include "member"
--- @include "touch"

--[[
KEYS: the events, the index of the bucket. Arguments: expected version, expected commit, commit id; then type and data of
each event.

Returns 1 if it has written; or a page, which is in conflict, and is empty if the head is not in the history.

The index is written first: if that fails, nothing was written. Redis refuses an entry id that is not above the last id
of the stream, even if the entries were deleted: then the stream has a new number and no new events, which the port
permits.
]]
local keysOfCall = 2
local function call(key, args)
  local stream, index = KEYS[key], KEYS[key + 1]
  local version, base, commit = args[1], args[2], args[3]
  local head = string.format('%d-0', version)

  -- The fields of an entry are type, data, commit, in this order. The last entry comes first, because to find one by its
  -- id takes twice as long.
  local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', '1')[1]
  local isHead = last and last[1] == head and last[2][6] == base
  if isHead or not last and version == 0 and base == '' then
    touch(index, memberOf(stream, index))
    for i = 4, #args, 2 do
      version = version + 1
      redis.call('XADD', stream, string.format('%d-0', version), 'type', args[i], 'data', args[i + 1], 'commit', commit)
    end
    return 1
  end

  local entries = redis.call('XRANGE', stream, head, '+', 'COUNT', 2)
  local known = ''
  if version ~= 0 then
    local entry = table.remove(entries, 1)
    known = entry and entry[1] == head and entry[2][6]
  end
  if known ~= base then return {0, ''} end

  if entries[1][2][6] ~= commit then
    -- Only here, because Lua makes a function anew in each execution.
    --- @include "page"
    return page(stream, version, CONFLICT_EVENTS)
  end
  -- The append was recorded before and its reply was lost. This writes, too, because WAIT counts the replicas that have
  -- the last write of this connection.
  touch(index, memberOf(stream, index))
  return 1
end

--- @include "calls"
