#!lua flags=no-writes
--- @include "guard"

-- KEYS: the checkpoint. Returns its fields.
local keysOfCall = 1
local function call(key)
  return redis.call('HKEYS', KEYS[key])
end

--- @include "calls"
