#!lua flags=no-writes
--- @include "guard"

-- KEYS: the events of a stream. Returns the last id that the stream has ever had, and the commit of
-- the entry with that id. If the entry was deleted, the commit is empty, and reading after this head
-- results in `reset`. Returns {} if there is no stream.
local keysOfCall = 1
local function call(key)
  if redis.call('EXISTS', KEYS[key]) == 0 then return {} end
  local facts = {}
  local reply = redis.call('XINFO', 'STREAM', KEYS[key])
  for i = 1, #reply, 2 do facts[reply[i]] = reply[i + 1] end
  local entry, last = facts['last-entry'], facts['last-generated-id']
  return {last, entry and entry[1] == last and entry[2][6] or ''}
end

--- @include "calls"
