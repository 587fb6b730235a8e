--- @include "guard"

--[[
KEYS: a checkpoint. Arguments: the expected revision; the new value of the field '', empty if it
stays; then names of streams, each followed by its new head, empty to remove it. Returns 1, or {}
without writing if the revision differs.
]]
local keysOfCall = 1
local function call(key, args)
  local checkpoint = KEYS[key]
  local stored = redis.call('HMGET', checkpoint, '')[1] or '0'
  if string.match(stored, '^%d+') ~= args[1] then return {} end
  if args[2] ~= '' then redis.call('HSET', checkpoint, '', args[2]) end
  for i = 3, #args, 2 do
    if args[i + 1] == '' then redis.call('HDEL', checkpoint, args[i])
    else redis.call('HSET', checkpoint, args[i], args[i + 1]) end
  end
  return 1
end

--- @include "calls"
