--[[
Returns an error, before anything is read or written, unless this server has the right store and is
certainly its primary.

A server that was demoted or cut off does not know it, while another server may already acknowledge
writes. So `proof` asks for one of these:

- `nothing`: this is a server of a Cluster, which redirects clients by itself.
- `role`: the server calls itself master. Writes need this proof as much as reads, because a
  writable replica (`replica-read-only no`) executes writes that nobody keeps.
- `lease`: in addition, `replicas` replicas have confirmed its writes within the last `lag` seconds,
  so none of them was promoted. The script reads the lag of each replica, because Redis computes it
  at this moment, while `min_slaves_good_slaves` is a second old, or older after the server was
  frozen.

The last key is the key of the store id, and `storeId` its value, unless that is empty.
]]
local proof, replicas, lag, storeId = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

local function objection()
  if storeId ~= '' and redis.call('GET', KEYS[#KEYS]) ~= storeId then return 'identity' end
  if proof == 'nothing' then return nil end
  local info = redis.call('INFO', 'replication')
  if not string.find(info, 'role:master', 1, true) then return 'replica' end
  if proof == 'role' then return nil end
  local missing = replicas
  -- A lag may be -1: Redis subtracts the times of two clocks, of which one lags some milliseconds.
  for behind in string.gmatch(info, 'state=online,offset=%d+,lag=(%-?%d+)') do
    if tonumber(behind) <= lag then missing = missing - 1 end
  end
  if missing > 0 then return 'unconfirmed' end
end

local why = objection()
if why then return redis.error_reply('OBJECTION ' .. why) end
