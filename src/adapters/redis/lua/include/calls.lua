--[[
Makes the calls with `call(key, args)`, where `key` is the place of the first of the call's
`keysOfCall` keys. A call must make all its checks before its first write, because Redis does not
roll back a script that fails.

Returns the place of each call that did not return 1, followed by its reply: an integer if the call
wrote, a table if it did not. If a call fails, its error is its reply, and the other calls are made
all the same.

The arguments of all calls are one JSON text, because a client needs twice as long to send each of
them as an argument of the command.
]]
local replies = {}
for place, args in ipairs(cjson.decode(ARGV[5])) do
  local made, reply = pcall(call, keysOfCall * (place - 1) + 1, args)
  if not made then reply = redis.error_reply(type(reply) == 'table' and reply.err or tostring(reply)) end
  if reply ~= 1 then
    replies[#replies + 1] = place
    replies[#replies + 1] = reply
  end
end
return replies
