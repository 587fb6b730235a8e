#!lua flags=no-writes
--- @include "guard"

--[[
KEYS: the index of a bucket, the events of a stream. Returns the negative time of the last erasure
in the bucket (0 if there was none), and the commit of the stream's first event (empty if there is
none).
]]
local keysOfCall = 2
local function call(key)
  local erasure = redis.call('ZRANGE', KEYS[key], '-inf', '(0', 'BYSCORE', 'WITHSCORES')
  local first = redis.call('XRANGE', KEYS[key + 1], '-', '+', 'COUNT', 1)[1]
  return {erasure[2] or '0', first and first[2][6] or ''}
end

--- @include "calls"
