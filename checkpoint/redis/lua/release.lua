-- ARGV: nonce, inbox number seen, ttl.
local m = call('HMGET', M, 'n', 'i', 'x')
if m[1] and m[1] == ARGV[1] then
  if m[2] ~= ARGV[2] then return 0 end
  call('HSET', M, 'n', '', 'l', 0, 'h', '', 'x', ARGV[1])
  touch(tonumber(ARGV[3]))
  return 1
end
if m[1] == '' and m[3] == ARGV[1] then return 1 end
return -1
