--[[
Returns whether there are more entries (1 or 0), and the entries after the head at `version`, packed
into one string. The entry of the head itself comes first if it is stored, without its type and
data, so that the caller can compare its commit. At least one more entry follows if there is one,
then as many as fit into `limit` entries and `PAGE_BYTES`. All pages of an execution share `budget`,
which the including script declares: once it is used up, each further page has only one more entry.
Otherwise many calls that each read a page would keep Redis from serving other clients for as long
as all of their pages take.

An entry is packed as its id, type, data and commit, each after its length in bytes (32 bits,
big-endian). An entry with other fields is packed as its id and the length 0xffffffff. If entries
were not packed, ioredis would parse seven strings and two arrays for each, which takes longer than
everything else that loading a history takes.

XRANGE can limit the number of entries, but not their bytes, so entries are read in growing steps.
]]
local function page(stream, version, limit)
  -- `count` leaves out the head, so it begins at -1 if there is one, and the first step reads two.
  local parts, size, count, step, from = {}, 0, 0, 1, string.format('%d-0', version)
  if version > 0 then count, step = -1, 2 end
  while true do
    local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', step)
    for _, entry in ipairs(entries) do
      local entryId, fields = entry[1], entry[2]
      if #fields ~= 6 or fields[1] ~= 'type' or fields[3] ~= 'data' or fields[5] ~= 'commit' then
        fields = nil
      elseif count < 0 then
        fields = {'', '', '', '', '', fields[6]}
      end
      local length = fields and #fields[2] + #fields[4] + #fields[6] or 0
      local isFull = count == limit or count > 0 and (size + length > PAGE_BYTES or budget <= 0)
      if isFull then return {1, table.concat(parts)} end
      budget = budget - EVENT_OVERHEAD_BYTES - length
      if not fields then
        parts[#parts + 1] = struct.pack('>I4c0I4', #entryId, entryId, 0xffffffff)
      elseif length < 4096 then
        local type, data, commit = fields[2], fields[4], fields[6]
        parts[#parts + 1] =
          struct.pack('>I4c0I4c0I4c0I4c0', #entryId, entryId, #type, type, #data, data, #commit, commit)
      else
        -- struct copies a text byte by byte, which took half of the script's time for texts of 16
        -- MiB.
        parts[#parts + 1] = struct.pack('>I4c0', #entryId, entryId)
        for field = 2, 6, 2 do
          parts[#parts + 1] = struct.pack('>I4', #fields[field])
          parts[#parts + 1] = fields[field]
        end
      end
      size, count = size + length, count + 1
    end
    if #entries < step then return {0, table.concat(parts)} end
    from = '(' .. entries[#entries][1]
    -- How many more entries of the average size so far fit; negative after a first entry that is
    -- larger than a page.
    local fitting = size > 0 and math.floor(count * (PAGE_BYTES - size) / size) or limit
    if budget <= 0 then fitting = 1 end
    -- One entry more than the limit shows whether there are more.
    step = math.max(1, math.min(4 * step, limit + 1 - count, fitting))
  end
end
