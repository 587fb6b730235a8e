-- Returns the member of a stream in the index of its bucket: the part of the key of its events
-- between `<prefix>:{<bucket>}:` and `:events`. The key of the index has the same beginning, and
-- then `index`.
local function memberOf(events, index)
  return string.sub(events, #index - #'index' + 1, -#':events' - 1)
end
