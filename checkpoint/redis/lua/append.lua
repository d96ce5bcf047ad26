-- ARGV: nonce, order last acknowledged or empty, epoch and creation of the thread or 0, until when the announcement holds, ttl; the write; number of the last
-- command that is done; status or empty, error, inbox number seen, number of questions, and an id and a row of each.
local nonce, prev, epoch, valid, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])
p = 7
local w = parse()
local taken, park = tonumber(arg()), arg()
local m = call('HMGET', M, 'n', 'i', 'b', 'e', 'y', 'x', 'r', 't', 'c')
if not m[4] then return {'stale'} end
local mine, inbox = m[1] == nonce, tonumber(m[2])

-- The server has lost what it had acknowledged if this holder's last record is younger than the last one that is there.
local back = mine and prev ~= '' and m[5] ~= prev and (not m[5] or less(m[5], prev))
local ok, beyond = false, false
if mine and not back then ok, beyond = fits(w, tonumber(m[3])) end
if not ok then
  if written(w, mine, m[5]) then return {'ok', inbox, (park ~= '' and not mine) and 1 or 0} end
  local e = tonumber(m[4])
  local same = m[9] == ARGV[4] -- not another thread of this key, made after a deletion
  if same and (back or beyond and prev == '' or not mine and (e < epoch or e == epoch and m[6] ~= nonce)) then return {'back'} end
  return {'stale'}
end
if valid > 0 and now > valid then return {'late'} end

apply(w, m[8])
if taken > 0 then
  local left = {}
  for _, n in ipairs(commands()) do
    if tonumber(n) <= taken then
      local v = call('HGET', Q, 'i' .. n)
      local request = v and string.match(v, '^[^%z]*') or ''
      call('HDEL', Q, 'i' .. n, 'I' .. request)
    else
      left[#left + 1] = n
    end
  end
  if #left == 0 then call('HDEL', M, 'w') else call('HSET', M, 'w', table.concat(left, ',')) end
end
if park == '' then return {'ok', inbox, 0} end

local why, seen = arg(), tonumber(arg())
status(m[7], park, why)
local asked = tonumber(arg())
if asked > 0 then
  local ids, there = pending(), {}
  for _, id in ipairs(ids) do there[id] = true end
  for _ = 1, asked do
    local id, row = arg(), arg()
    call('HSET', Q, 'q' .. id, '0' .. row)
    call('HDEL', Q, 'a' .. id)
    if not there[id] then
      ids[#ids + 1] = id
      there[id] = true
    end
  end
  call('HSET', M, 'p', table.concat(ids, '\0'))
end
local released = 0
if inbox == seen then
  call('HSET', M, 'n', '', 'l', 0, 'h', '', 'x', nonce)
  released = 1
end
touch(ttl)
return {'ok', inbox, released}
