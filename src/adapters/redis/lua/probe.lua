#!lua flags=no-writes
--[[
Tries commands, which are given as JSON: the name of each, the place of its key, and its other
arguments. Returns the first command that this server or its user may not run, its key, and the
message of the refusal.

Nothing is written, because Redis refuses every write of a script with the flag `no-writes`; but it
first checks that the command exists and that the user has the right to it. Any other error is a
refusal: a renamed or disabled command is unknown, and providers have messages of their own.
]]
for _, probe in ipairs(cjson.decode(ARGV[1])) do
  local reply = redis.pcall(probe[1], KEYS[probe[2]], unpack(probe, 3))
  local refusal = type(reply) == 'table' and reply.err
  local isExpected = refusal and (
    -- Write or write: the case of the letter does not matter.
    string.find(refusal, 'rite commands are not allowed', 1, true) or
    string.find(refusal, 'WRONGTYPE', 1, true)
  )
  if refusal and not isExpected then return {probe[1], KEYS[probe[2]], refusal} end
end
local info = redis.pcall('INFO', 'replication')
if type(info) == 'table' then return {'INFO in scripts', '', info.err} end
return {}
