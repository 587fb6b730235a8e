--- @include "guard"

--[[
One step of saving: writes fields of the draft, and in the last step makes it the snapshot.

KEYS: the events, the snapshot, the draft. Arguments: version and commit of the head, the id of the writer, which step it
is (`first`, `next` or `last`), the time until the draft expires, then a name and a value for each field. Returns 1, or {}
if it is refused.

The draft is the lock of its writer. Each step checks that the stream has the head, so that nothing is written of a stream
that was erased.
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
    -- RENAME would free the old snapshot at once, and UNLINK frees it in the background.
    redis.call('UNLINK', snapshot)
    redis.call('RENAME', draft, snapshot)
  end
  return 1
end

--- @include "calls"
