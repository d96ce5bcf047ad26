-- ARGV: nonce, length of the lease, epoch and creation of the thread or 0. Returns whether it is lost, the inbox number, and whether the server lost it.
local m = call('HMGET', M, 'n', 'i', 'e', 'x', 'c')
if m[1] and m[1] == ARGV[1] then
  call('HSET', M, 'l', string.format('%.0f', now + tonumber(ARGV[2])))
  return {0, tonumber(m[2]), 0}
end
local e, mine = tonumber(m[3] or 0), tonumber(ARGV[3])
return {1, 0, (m[5] == ARGV[4] and (e < mine or e == mine and m[4] ~= ARGV[1])) and 1 or 0}
