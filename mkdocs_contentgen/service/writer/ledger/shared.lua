-- The commands of a shared ledger. Each is atomic. A call can arrive twice, since replies can get
-- lost. ARGV[1] is a JSON object with the command and its arguments.

local arguments = cjson.decode(ARGV[1])
local commands = {}

local function server_time()
  local time = redis.call('TIME')
  return time[1] + time[2] / 1000000
end

local function forget(request, running)
  redis.call('DEL', request)
  redis.call('HDEL', running, arguments.key)
end

-- Return the reply for a limit on cost that is reached, or nil.
local function limited_by_cost(usage)
  for _, limit in ipairs({'max_cost', 'cost_per_month'}) do
    if arguments[limit] then
      local field = limit == 'max_cost' and 'cost' or arguments.user .. ':cost'
      local cost = tonumber(redis.call('HGET', usage, field) or '0')
      if not cost or cost ~= cost then return {'damaged usage'} end
      if cost >= arguments[limit] then return {'limited', limit} end
    end
  end
end

function commands.add_user()
  redis.call('HSETNX', KEYS[1], arguments.name, arguments.value)
  return redis.call('HGET', KEYS[1], arguments.name) == arguments.value and 1 or 0
end

function commands.beat()
  local now = server_time()
  redis.call('ZADD', KEYS[1], now, arguments.owner)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 86400)
  return 1
end

-- A call without a reply is sent again with the same attempt, and gets the same reply.
function commands.begin()
  local request, running, recent_requests, owners, usage = unpack(KEYS)
  local attempt, owner, grace = arguments.attempt, arguments.owner, arguments.grace
  local now = server_time()
  local last_beat = redis.call('ZSCORE', owners, owner)
  redis.call('ZADD', owners, now, owner)

  -- While the server is down, hangs or cannot be reached, no owner can beat.
  local uptime = string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)')
  local may_judge = arguments.may_judge and tonumber(uptime) > grace
    and last_beat and now - tonumber(last_beat) <= grace / 2

  local function lives(other)
    local beat = redis.call('ZSCORE', owners, other)
    return not may_judge or beat and now - tonumber(beat) <= grace
  end

  local found = redis.call('HMGET', request, 'fingerprint', 'attempt', 'owner')
  if found[1] then
    if found[1] ~= arguments.fingerprint then return {'other body'} end
    if redis.call('HEXISTS', request, 'body') == 1 then
      if redis.call('HSTRLEN', request, 'body') > arguments.max_body then
        return {'damaged request'}
      end
      return {'answered', redis.call('HGET', request, 'body')}
    end
    if found[2] == attempt then return {'begun'} end
    if found[3] and lives(found[3]) then return {'running'} end
  elseif redis.call('EXISTS', request) == 1 then
    return {'damaged request'}
  end

  local limited = limited_by_cost(usage)
  if limited then return limited end

  -- Times in the future were stored before a clock was set back.
  local in_a_minute = string.format('(%.17g', arguments.now + 60)
  redis.call('ZREMRANGEBYSCORE', recent_requests, '-inf', arguments.now - 60)
  redis.call('ZREMRANGEBYSCORE', recent_requests, in_a_minute, '+inf')
  local nth = arguments.requests_per_minute - 1
  local last = redis.call('ZREVRANGE', recent_requests, nth, nth, 'WITHSCORES')
  if last[2] then return {'limited', 'requests_per_minute', last[2]} end

  local fields, count = redis.call('HGETALL', running), 0
  for i = 1, #fields, 2 do
    if lives(fields[i + 1]) then
      count = count + 1
    else
      redis.call('HDEL', running, fields[i])
    end
  end
  if count >= arguments.parallel then return {'limited', 'parallel'} end

  redis.call('DEL', request)
  redis.call('HSET', request, 'fingerprint', arguments.fingerprint,
             'attempt', attempt, 'owner', owner)
  -- Where the process dies, and the request never comes again.
  redis.call('EXPIRE', request, 7 * 86400)
  redis.call('HSET', running, arguments.key, owner)
  redis.call('ZADD', recent_requests, arguments.now, attempt)
  redis.call('EXPIRE', recent_requests, 86400)
  return {'begun'}
end

function commands.over_budget()
  return limited_by_cost(KEYS[1]) or {'allowed'}
end

function commands.abandon()
  local request, running = unpack(KEYS)
  if redis.call('HGET', request, 'attempt') == arguments.attempt then forget(request, running) end
  return 1
end

-- ARGV[2] is the text. Two who write the same one have both paid for it, so the usage of each
-- attempt is added once.
function commands.finish()
  local request, running, answers, usage, months, finished = unpack(KEYS)
  local body = ARGV[2]
  if redis.call('EXISTS', finished) == 1 then return 1 end

  local found = redis.call('HMGET', request, 'fingerprint', 'attempt')
  if redis.call('HEXISTS', request, 'body') == 0 then
    if body and (not found[1] or found[1] == arguments.fingerprint) then
      forget(request, running)
      redis.call('HSET', request, 'fingerprint', arguments.fingerprint, 'body', body)
      redis.call('ZADD', answers, arguments.now, arguments.user .. ':' .. arguments.key)
    elseif found[2] == arguments.attempt then
      forget(request, running)
    end
  end

  redis.call('SADD', months, arguments.month)
  for counter, count in pairs(arguments.counters) do
    redis.call('HINCRBY', usage, arguments.user .. ':' .. counter, count)
  end
  redis.call('HINCRBYFLOAT', usage, arguments.user .. ':cost', arguments.cost)
  redis.call('HINCRBYFLOAT', usage, 'cost', arguments.cost)
  redis.call('SET', finished, '1', 'EX', 86400)
  return 1
end

-- Drop some answers from before a time, and return their number.
function commands.expire()
  local before = string.format('(%.17g', arguments.before)
  local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', before, 'LIMIT', 0, arguments.batch)
  for _, answer in ipairs(old) do
    redis.call('ZREM', KEYS[1], answer)
    local request = arguments.prefix .. answer
    if redis.call('HEXISTS', request, 'body') == 1 then redis.call('DEL', request) end
  end
  return #old
end

return commands[arguments.command]()
