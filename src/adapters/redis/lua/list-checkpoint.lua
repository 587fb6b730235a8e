#!lua flags=no-writes
--- @include "guard"

-- KEYS: a checkpoint. Returns the names of its fields.
local keysOfCall = 1
local function call(key)
  return redis.call('HKEYS', KEYS[key])
end

--- @include "calls"
