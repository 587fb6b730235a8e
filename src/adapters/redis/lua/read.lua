#!lua flags=no-writes
--- @include "guard"
local budget = EXECUTION_BYTES
--- @include "page"

-- KEYS: the events of a stream. Argument: the version of the head to read after.
local keysOfCall = 1
local function call(key, args)
  return page(KEYS[key], args[1], args[1] == 0 and FIRST_PAGE_EVENTS or PAGE_EVENTS)
end

--- @include "calls"
