-- One load of the benchmark. Its arguments: GET, POST or DELETE; the
-- bearer token; the number of users, whose tokens end with a number each (0: one user, with
-- the token itself); ids as first:count,first:count …
-- POST creates a plant of the next id with every request, DELETE deletes the next.
-- After the last id, the request is one that every server refuses.
local kind, token, users, id, left
local tried = false
local mine
ran_out = 0

function setup(thread)
  mine = thread
end
local ranges = {}

local function next_id()
  -- wrk makes one request that it does not send, to see that it is one.
  if not tried then
    tried = true
    return "0"
  end
  while left == 0 do
    local range = table.remove(ranges, 1)
    if not range then
      ran_out = 1
      return "none"
    end
    id, left = range[1], range[2]
  end
  id, left = id + 1, left - 1
  return string.format("%d", id - 1)
end

function init(args)
  kind, token, users, left = args[1], args[2], tonumber(args[3]), 0
  for first, count in args[4]:gmatch("(%d+):(%d+)") do
    table.insert(ranges, { tonumber(first), tonumber(count) })
  end
  local start = "Host: " .. wrk.host .. ":" .. wrk.port .. "\r\nAuthorization: Bearer " .. token
  -- The end of the field, and of its line: of the user who owns the plant, or whose turn it is.
  local function whose(number)
    return (users > 0 and string.format("%d", number % users) or "") .. "\r\n"
  end
  local target = wrk.path
  if kind == "GET" then
    local head, turn = "GET " .. target .. " HTTP/1.1\r\n" .. start, 0
    request = function()
      turn = turn + 1
      return head .. whose(turn) .. "\r\n"
    end
  elseif kind == "POST" then
    local head = "POST " .. target .. " HTTP/1.1\r\n" .. start
    request = function()
      local number = next_id()
      local body = '{"id":' .. number .. ',"name":"Monstera deliciosa","tag":"indoor"}'
      return head .. whose(tonumber(number) or 0) ..
        "Content-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
    end
  else
    local head, tail = "DELETE " .. target .. "/", " HTTP/1.1\r\n" .. start
    request = function()
      local number = next_id()
      return head .. number .. tail .. whose(tonumber(number) or 0) .. "\r\n"
    end
  end
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"refused":%d,"unanswered":%d,"outOfIds":%d,"p50Ms":%.4f,"p99Ms":%.4f,"p999Ms":%.4f,"maxMs":%.4f}\n',
    summary.requests, summary.duration / 1e6, e.status, e.connect + e.read + e.write + e.timeout, mine:get("ran_out"),
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3))
end
