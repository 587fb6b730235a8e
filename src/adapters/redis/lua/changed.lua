#!lua flags=no-writes
--- @include "guard"

--[[
Reads a page of the index of a bucket.

KEYS: the index. Arguments: the epoch and the sequence number of a position, the maximum number of
streams. Returns only the current epoch if the position has a different one. Otherwise returns the
epoch and the next members with their numbers: more than the maximum if another page follows, and
then also some of the newest members, in reverse order.

An epoch is the replication id of the primary, the lineage of the bucket, and the number of its last
erasure. Redis makes a new replication id whenever it may have lost the last writes: at each
promotion of a replica, and at each start, even from a backup. The lineage differs from the one
before FLUSHALL, and from the lineage of any other store on the same server. A bucket without
streams may have no lineage yet.
]]
local replication = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')

local keysOfCall = 1
local function call(key, args)
  local index, known, sequence, limit = KEYS[key], args[1], args[2], args[3]
  local lineage = redis.call('ZRANGE', index, '0', '0', 'BYSCORE')[1] or ''
  local epoch = table.concat({replication, lineage, redis.call('ZSCORE', index, '') or '0'}, '.')
  local isStart = known == '' and sequence == 0
  if known ~= epoch and not isStart then return {epoch} end
  -- Reads one more for the member '' (see touch.lua), and one more to see whether a page follows.
  local after = string.format('(%d', sequence)
  local next = redis.call('ZRANGE', index, after, '+inf', 'BYSCORE', 'LIMIT', 0, limit + 2, 'WITHSCORES')
  local newest = {}
  if #next > 2 * limit then newest = redis.call('ZRANGE', index, 0, NEWEST_STREAMS - 1, 'REV', 'WITHSCORES') end
  return {epoch, next, newest}
end

--- @include "calls"
