--[[
Gives a member of an index the next sequence number, which is one above the highest. The index of a
bucket is a sorted set of streams. Its member '' has the number of the last erasure, so that an
erasure never makes a number available again.

A new index also gets a lineage: a random member at 0. After FLUSHALL, and under another prefix of
the same server, the numbers begin again, and without the lineage a reader could not tell them from
the numbers that it knows. INFO counts the commands of the server, so its text is never the same
twice, and its hash serves as a random value.
]]
local function touch(index, member)
  local highest = redis.call('ZRANGE', index, '0', '0', 'REV', 'WITHSCORES')[2]
  if not highest then
    redis.call('ZADD', index, '0', redis.sha1hex(redis.call('INFO')))
    highest = 0
  end
  redis.call('ZADD', index, string.format('%d', highest + 1), member)
end
