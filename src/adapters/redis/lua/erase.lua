#!lua flags=allow-oom
--- @include "guard"
--- @include "member"
--- @include "touch"

--[[
Erases a stream with its snapshot.

KEYS: the index of the bucket, the events, the snapshot, its draft. Argument: the time in ms since
1970. Returns the number of events. Writes even if there is no such stream, so that an erasure can
be repeated if too few replicas have confirmed it. It may run at `maxmemory` (`allow-oom`), because
it frees memory.
]]
local keysOfCall = 4
local function call(key, args)
  -- This comes before the first write, because it fails without the right to XLEN, or if the key is
  -- not a stream.
  local events = redis.call('XLEN', KEYS[key + 1])
  touch(KEYS[key], '')
  -- The member '/erased' has the time of the last erasure, below 0, where only erasure.lua looks.
  -- No stream has this member, because a category is not empty, and ids are percent-encoded.
  redis.call('ZADD', KEYS[key], string.format('-%d', args[1]), '/erased')
  redis.call('ZREM', KEYS[key], memberOf(KEYS[key + 1], KEYS[key]))
  redis.call('UNLINK', KEYS[key + 1], KEYS[key + 2], KEYS[key + 3])
  return events
end

--- @include "calls"
