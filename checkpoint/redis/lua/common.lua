-- Begins every script of a thread. KEYS: the head and the tails of chains; the records; questions, runs, inbox, branches.
if redis.replicate_commands then redis.replicate_commands() end -- Redis 6 refuses a write after TIME without it
local call = redis.call
local M, J, Q = KEYS[1], KEYS[2], KEYS[3]
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local at = string.format('%014.0f', now)

local function head()
  return call('HMGET', M, 'e', 'n', 'l', 'h', 't', 'i', 'a', 'b', 'r', 's', 'g', 'o', 'c', 'u', 'x', 'd')
end

-- Whole numbers of eight bytes, highest first, are compared as bytes: a Lua number holds 53 bits, and Lua compares
-- strings by the locale.
local function less(a, b)
  for i = 1, 8 do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return false
end

local function number(s, i)
  local n = 0
  for k = i, i + 7 do n = n * 256 + string.byte(s, k) end
  return n
end

-- A chain's field in the head: its first and last position and the header of its last record.
local function chain(field)
  local v = call('HGET', M, field)
  if not v then return nil end
  local first, last, header = string.match(v, '^(%d+) (%d+) (.*)$')
  return tonumber(first), tonumber(last), header
end

-- Questions that are not closed are listed in the head, so that nobody walks over the closed ones.
local function pending()
  local ids = {}
  local s = call('HGET', M, 'p')
  if s then
    for id in string.gmatch(s, '[^%z]+') do ids[#ids + 1] = id end
  end
  return ids
end

local function commands()
  local ns = {}
  local s = call('HGET', M, 'w')
  if s then
    for n in string.gmatch(s, '%d+') do ns[#ns + 1] = n end
  end
  return ns
end

-- keep comes before a write that needs the thread to stay. It takes the time off, and reports whether the server allows that: the
-- write would go with the thread otherwise. Where it does not even say whether there is one, only a store that sets times minds.
local function keep(ttl)
  local left = redis.pcall('PTTL', M)
  if type(left) == 'table' then left = redis.pcall('TTL', M) end
  if type(left) == 'table' and ttl == 0 or type(left) ~= 'table' and left < 0 then return true end
  for i = 1, 3 do
    if type(redis.pcall('PERSIST', KEYS[i])) == 'table' then return false end
  end
  return true
end

-- touch ends a write. It sets when the thread expires, all keys at the same moment, or that it does not: somebody may need it as long as it is
-- held, has not ended, or a command waits. A server that refuses (by its access rules) does not undo the write: the thread stays, and
-- the next write tries again.
local function touch(ttl)
  local f = call('HMGET', M, 'n', 's', 'w')
  if ttl > 0 and f[1] == '' and tonumber(f[2]) >= 3 and not f[3] then
    for i = 1, 3 do redis.pcall('PEXPIREAT', KEYS[i], now + ttl) end
  elseif redis.pcall('PTTL', M) ~= -1 then
    for i = 1, 3 do redis.pcall('PERSIST', KEYS[i]) end
  end
end
