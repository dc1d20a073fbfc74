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
  redis.call('HDEL', running, arguments.user .. ':' .. arguments.key)
end

-- Return a counter of the month, or nil if it is damaged.
local function spent(usage, field)
  local cost = tonumber(redis.call('HGET', usage, field) or '0')
  return cost and cost == cost and cost or nil
end

-- Replies with numbers are texts, since numbers would be rounded.
local function text(number) return string.format('%.6f', number) end

function commands.user()
  local found = redis.call('HGET', KEYS[1], arguments.name)
  if found then return {found} end
  return {}
end

-- ARGV[2] is what is stored now, ARGV[3] what to store, and ARGV[4] the event.
function commands.replace_user()
  local users, events = unpack(KEYS)
  local stored = redis.call('HGET', users, arguments.name) or ''
  if stored ~= ARGV[2] then return stored == ARGV[3] and 1 or 0 end
  if ARGV[3] == '' then
    redis.call('HDEL', users, arguments.name)
  else
    redis.call('HSET', users, arguments.name, ARGV[3])
  end
  redis.call('RPUSH', events, ARGV[4])
  redis.call('LTRIM', events, -10000, -1)
  return 1
end

function commands.beat()
  local now = server_time()
  redis.call('ZADD', KEYS[1], now, arguments.owner)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 86400)
  redis.call('SETNX', KEYS[2], arguments.new)
  return {redis.call('GET', KEYS[2]), text(now)}
end

-- A call without a reply is sent again with the same attempt, and gets the same reply.
function commands.begin()
  local request, running, recent_requests, owners, usage, parts = unpack(KEYS)
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

  local function begun()
    local first = redis.call('ZRANGE', recent_requests, 0, 0, 'WITHSCORES')[2] or now
    local saved = redis.call('STRLEN', parts) < arguments.max_body and redis.call('GET', parts)
    local count = text(redis.call('ZCARD', recent_requests))
    return {'begun', count, text(first + 60 - now), saved or ''}
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
    if found[2] == attempt then return begun() end
    if found[3] and lives(found[3]) then return {'running'} end
  elseif redis.call('EXISTS', request) == 1 then
    return {'damaged request'}
  end

  local mine = arguments.user .. ':'
  local count, reserved, own = 0, 0, 0
  local fields = redis.call('HGETALL', running)
  for i = 1, #fields, 2 do
    local other, cost = string.match(fields[i + 1], '^(%S+) (%S+)$')
    if other and lives(other) then
      cost = tonumber(cost) or 0
      reserved = reserved + cost
      if string.sub(fields[i], 1, #mine) == mine then
        count, own = count + 1, own + cost
      end
    else
      redis.call('HDEL', running, fields[i])
    end
  end

  for _, limit in ipairs({{'max_cost', 'cost', reserved}, {'cost_per_month', mine .. 'cost', own}}) do
    local name, field, held = unpack(limit)
    if arguments[name] then
      local cost = spent(usage, field)
      if not cost then return {'damaged usage'} end
      local after, most = cost + arguments.reserve, arguments[name] - 1e-9
      if after + held >= most then return {'limited', name, after >= most and '1' or '0'} end
    end
  end

  -- Times in the future were stored before a clock was set back.
  redis.call('ZREMRANGEBYSCORE', recent_requests, '-inf', text(now - 60))
  redis.call('ZREMRANGEBYSCORE', recent_requests, '(' .. text(now), '+inf')
  local nth = arguments.requests_per_minute - 1
  local last = redis.call('ZREVRANGE', recent_requests, nth, nth, 'WITHSCORES')
  if last[2] then
    return {'limited', 'requests_per_minute', text(math.max(0, last[2] + 60 - now))}
  end
  if count >= arguments.parallel then return {'limited', 'parallel'} end

  redis.call('DEL', request)
  redis.call('HSET', request, 'fingerprint', arguments.fingerprint,
             'attempt', attempt, 'owner', owner)
  -- Where the process dies, and the request never comes again.
  redis.call('EXPIRE', request, 7 * 86400)
  redis.call('HSET', running, mine .. arguments.key, owner .. ' ' .. text(arguments.reserve))
  redis.call('ZADD', recent_requests, text(now), attempt)
  redis.call('EXPIRE', recent_requests, 86400)
  return begun()
end

function commands.abandon()
  local request, running, recent_requests = unpack(KEYS)
  if redis.call('HGET', request, 'attempt') == arguments.attempt then forget(request, running) end
  redis.call('ZREM', recent_requests, arguments.attempt)
  return 1
end

-- Add the usage of an attempt, once. Return whether all counters could be changed: a damaged one
-- must not keep a text from its client.
local function add_usage(usage, months, finished)
  redis.call('SADD', months, arguments.month)
  redis.call('SET', finished, '1', 'EX', 86400)
  local replies = {}
  for counter, number in pairs(arguments.counters) do
    replies[#replies + 1] =
      redis.pcall('HINCRBY', usage, arguments.user .. ':' .. counter, number)
  end
  for _, field in ipairs({arguments.user .. ':cost', 'cost'}) do
    replies[#replies + 1] = redis.pcall('HINCRBYFLOAT', usage, field, arguments.cost)
  end
  for _, reply in ipairs(replies) do
    if type(reply) == 'table' then return false end
  end
  return true
end

-- ARGV[2] is the text. Two who write the same one have both paid for it, so the usage of each
-- attempt is added once.
function commands.finish()
  local request, running, answers, usage, months, finished = unpack(KEYS)
  local body = ARGV[2]
  local function costs()
    local own, all = unpack(redis.call('HMGET', usage, arguments.user .. ':cost', 'cost'))
    local kept = body and redis.call('HSTRLEN', request, 'body') <= arguments.max_body
      and redis.call('HGET', request, 'body')
    return {own, all, kept or ''}
  end
  if redis.call('EXISTS', finished) == 1 then return costs() end

  local found = redis.call('HMGET', request, 'fingerprint', 'attempt')
  if redis.call('HEXISTS', request, 'body') == 0 then
    if body and (not found[1] or found[1] == arguments.fingerprint) then
      forget(request, running)
      redis.call('HSET', request, 'fingerprint', arguments.fingerprint, 'body', body)
      -- With a clock that was set back, it would seem to be old soon.
      local last = redis.call('ZREVRANGE', answers, 0, 0, 'WITHSCORES')[2] or 0
      redis.call('ZADD', answers, math.max(arguments.now, last), arguments.user .. ':' .. arguments.key)
    elseif found[2] == arguments.attempt then
      forget(request, running)
    end
  end

  if not add_usage(usage, months, finished) then return {} end
  return costs()
end

-- ARGV[2] are the parts, which are dropped if there are none.
function commands.save_parts()
  local parts, usage, months, finished = unpack(KEYS)
  if redis.call('EXISTS', finished) == 1 then return {'1'} end
  if ARGV[2] == '' then
    redis.call('DEL', parts)
  else
    redis.call('SET', parts, ARGV[2], 'EX', arguments.seconds)
  end
  if next(arguments.counters) and not add_usage(usage, months, finished) then return {} end
  return {'1'}
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

-- Where the server has lost its data, nothing is kept in what is left.
if arguments.instance and redis.call('GET', arguments.instance_key) ~= arguments.instance then
  return redis.error_reply('LOST the data')
end
return commands[arguments.command]()
