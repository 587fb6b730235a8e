-- For wrk with as many threads as connections: each lists, creates a plant and deletes it, in a cycle.
local threads = 0

function setup(thread)
  thread:set("id", threads * 1000000)
  threads = threads + 1
end

local step = 0

function init(arguments)
  token = arguments[1]
end

function request()
  local headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
  step = step % 3 + 1
  -- The list is first, because wrk drops the first request of the first thread.
  if step == 1 then
    return wrk.format("GET", "/plants?limit=10", headers)
  elseif step == 2 then
    id = id + 1
    return wrk.format("POST", "/plants", headers, string.format('{"id":%d,"name":"Fern"}', id))
  end
  return wrk.format("DELETE", "/plants/" .. id, headers)
end

function done(summary)
  local errors = summary.errors
  local sockets = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('{"requests":%d,"refused":%d,"broken":%d}\n', summary.requests, errors.status, sockets))
end
