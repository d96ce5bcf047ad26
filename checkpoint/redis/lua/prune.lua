-- ARGV: when the candidates were read, grace, then letter and member of each that was looked at since and does not belong. The
-- first time it becomes a suspect; announcing it clears it. A suspect goes when nobody who announced it before can still come.
local read, grace = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 3, #ARGV, 2 do
  local field = ARGV[i] .. ARGV[i + 1]
  local since = call('HGET', KEYS[1], field)
  if not since then
    call('HSET', KEYS[1], field, string.format('%.0f', now))
  elseif tonumber(since) + grace < read then
    call('ZREM', set[ARGV[i]], ARGV[i + 1])
    call('HDEL', KEYS[1], field)
  end
end
return 1
