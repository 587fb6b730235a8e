#!lua flags=no-writes
--- @include "guard"

-- KEYS: a checkpoint. Arguments: the names of fields. Returns their values.
local keysOfCall = 1
local function call(key, args)
  return redis.call('HMGET', KEYS[key], unpack(args))
end

--- @include "calls"
