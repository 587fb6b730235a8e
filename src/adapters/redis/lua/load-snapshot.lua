#!lua flags=no-writes
--- @include "guard"

--[[
KEYS: a snapshot. Arguments: the maximum length of a value in bytes, then the names of fields.
Returns their values. A longer value is replaced by its length, because a client keeps a whole reply
in memory.
]]
local keysOfCall = 1
local function call(key, args)
  local values = redis.call('HMGET', KEYS[key], unpack(args, 2))
  for i = 1, #args - 1 do
    if values[i] and #values[i] > args[1] then values[i] = #values[i] end
  end
  return values
end

--- @include "calls"
