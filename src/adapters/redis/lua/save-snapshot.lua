--- @include "guard"

--[[
Makes one step of saving a snapshot: writes fields of the draft, and in the last step turns the
draft into the snapshot.

KEYS: the events, the snapshot, the draft. Arguments: version and commit of the head, the id of the
writer, the step (`first`, `next` or `last`), the time in ms until the draft expires, then a name
and a value for each field. Returns 1, or {} if the step is refused.

The draft is also the lock of its writer. Each step checks that the stream has the head, so that
nothing is written for a stream that was erased.
]]
local keysOfCall = 3
local function call(key, args)
  local stream, snapshot, draft = KEYS[key], KEYS[key + 1], KEYS[key + 2]
  local version, commit, writer, step, expiry = unpack(args)
  local head = string.format('%d-0', version)
  local entry = redis.call('XRANGE', stream, head, head)[1]
  if not entry or entry[2][6] ~= commit then return {} end
  local current = redis.call('HMGET', draft, 'writer')[1] or step == 'first' and writer
  if current ~= writer then return {} end
  redis.call('HSET', draft, 'writer', writer, unpack(args, 6))
  redis.call('PEXPIRE', draft, expiry)
  if step == 'last' then
    redis.call('PERSIST', draft)
    -- UNLINK frees the old snapshot in the background. RENAME alone would free it at once, and
    -- Redis would serve nobody else meanwhile.
    redis.call('UNLINK', snapshot)
    redis.call('RENAME', draft, snapshot)
  end
  return 1
end

--- @include "calls"
