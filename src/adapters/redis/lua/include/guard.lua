--[[
Returns an error unless this server has the store, and is certainly its primary: nothing is read or written then.

A server that was demoted, or cut off, does not know it: another one may acknowledge writes meanwhile. So `proof` asks
for one of these:

- `nothing`: a server of a Cluster redirects by itself.
- `role`: the server calls itself master. A replica that is writable (`replica-read-only no`) executes writes that
  nobody keeps, so a write needs this proof as a read does.
- `lease`: in addition, `replicas` replicas have confirmed its writes within the last `lag` seconds, so none of them was
  promoted. The lags are computed at this moment, unlike `min_slaves_good_slaves`, which is one second old, or older after
  the server was frozen. (A lag is -1 in the first milliseconds of a second, because Redis subtracts the times of two
  clocks, and one of them is coarse.)

The last key is that of the id of the store, unless `id` is empty.
]]
local proof, replicas, lag, id = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

local function doubt()
  if id ~= '' and redis.call('GET', KEYS[#KEYS]) ~= id then return 'identity' end
  if proof == 'nothing' then return nil end
  local info = redis.call('INFO', 'replication')
  if not string.find(info, 'role:master', 1, true) then return 'replica' end
  if proof == 'role' then return nil end
  local missing = replicas
  for behind in string.gmatch(info, 'state=online,offset=%d+,lag=(%-?%d+)') do
    if tonumber(behind) <= lag then missing = missing - 1 end
  end
  if missing > 0 then return 'unconfirmed' end
end

local why = doubt()
if why then return redis.error_reply('DOUBT ' .. why) end
