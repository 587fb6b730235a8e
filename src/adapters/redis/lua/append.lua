--- @include "guard"
--- @include "member"
--- @include "touch"

--[[
Records the events of one commit.

KEYS: the events of a stream, the index of its bucket. Arguments: expected version, expected commit,
commit id; then the type and the data of each event.

Returns 1 if the events are recorded. Otherwise returns a page of the events in conflict with them;
the page is empty if the expected head is not in the history.

The index is written first, so that nothing is written if that fails. Redis refuses an entry id that
is not above the last id of the stream, even if the entries up to that id were deleted. Then the
stream has a new sequence number but no new events, which the port permits.
]]
local budget = EXECUTION_BYTES
local keysOfCall = 2
local function call(key, args)
  local stream, index = KEYS[key], KEYS[key + 1]
  local version, base, commit = args[1], args[2], args[3]
  local head = string.format('%d-0', version)

  -- The fields of an entry are type, data and commit, in this order. The last entry is read first,
  -- because finding an entry by its id takes twice as long.
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
    -- Included only where it is needed, because each execution creates its functions anew.
    --- @include "page"
    return page(stream, version, CONFLICT_EVENTS)
  end
  -- This append was recorded before, and its reply was lost. It must write something again, because
  -- WAIT counts the replicas that have the last write of this connection.
  touch(index, memberOf(stream, index))
  return 1
end

--- @include "calls"
