#!lua flags=no-writes
--- @include "guard"

--[[
KEYS: the index of a bucket. Arguments: epoch, sequence number, maximum number of streams. Returns the epoch, and if it is
that of the position, members with their numbers: the next ones, more than the maximum if there are more, and then also
the newest ones, in reverse order.

An epoch is the replication id of the primary, the lineage of the bucket, and the number of its last erasure. Redis makes
a new replication id whenever it may have lost the last writes: at each promotion of a replica, and at each start, even
from a backup. The lineage tells a bucket from the one that was there before FLUSHALL, and from that of another store on
the same server. A bucket without streams may have none yet.
]]
local replication = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')

local keysOfCall = 1
local function call(key, args)
  local index, known, sequence, limit = KEYS[key], args[1], args[2], args[3]
  local lineage = redis.call('ZRANGE', index, '0', '0', 'BYSCORE')[1] or ''
  local epoch = table.concat({replication, lineage, redis.call('ZSCORE', index, '') or '0'}, '.')
  local isStart = known == '' and sequence == 0
  if known ~= epoch and not isStart then return {epoch} end
  -- One more for '', see touch.lua, and one to see whether there are more.
  local after = string.format('(%d', sequence)
  local next = redis.call('ZRANGE', index, after, '+inf', 'BYSCORE', 'LIMIT', 0, limit + 2, 'WITHSCORES')
  local newest = {}
  if #next > 2 * limit then newest = redis.call('ZRANGE', index, 0, NEWEST_STREAMS - 1, 'REV', 'WITHSCORES') end
  return {epoch, next, newest}
end

--- @include "calls"
