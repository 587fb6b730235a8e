#!lua flags=no-writes
--- @include "guard"

-- KEYS: the checkpoint. Arguments: fields. Returns their values.
local keysOfCall = 1
local function call(key, args)
  return redis.call('HMGET', KEYS[key], unpack(args))
end

--- @include "calls"
