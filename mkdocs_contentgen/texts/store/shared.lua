-- The commands of a shared cache. Each is atomic. ARGV[1] is a JSON object with the command and its
-- arguments, and KEYS are those of the claim and the Idempotency-Key of a request.

local arguments = cjson.decode(ARGV[1])
local claim, idempotency_key = unpack(KEYS)
local commands = {}

-- Return the Idempotency-Key, or '' if another run has the claim.
function commands.claim()
  local owner, left = redis.call('GET', claim), redis.call('PTTL', claim)
  local valid = left >= 0 and left <= arguments.lease
  if owner and owner ~= arguments.owner and valid then return '' end
  redis.call('SET', claim, arguments.owner, 'PX', arguments.lease)
  local known = redis.pcall('GET', idempotency_key)
  local is_key = type(known) == 'string' and #known == 32 and not string.find(known, '[^0-9a-f]')
  if is_key and not arguments.refresh then return known end
  redis.call('SET', idempotency_key, arguments.new_key)
  return arguments.new_key
end

function commands.release()
  if redis.call('GET', claim) ~= arguments.owner then return 0 end
  if arguments.answered then redis.call('DEL', idempotency_key) end
  return redis.call('DEL', claim)
end

return commands[arguments.command]()
