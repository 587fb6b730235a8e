-- Returns the member of a stream in the index of its bucket, from the key of its events.
local function memberOf(events, index)
  return string.sub(events, #index - 4, -8)
end
