--[[
Makes the calls by `call(key, args)`, where `key` is the place of the first key of a call, which has `keysOfCall`. A call
makes all checks before its first write, because Redis does not roll back a failed script.

Returns the places of those that did not return 1, each followed by its reply: an integer if it has written, a table if
not. An error of a call is its reply, and the other calls are made.

The arguments of all calls are one JSON text, which takes the client half as long as an argument for each.
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
