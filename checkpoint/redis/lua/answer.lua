-- ARGV: active branch, earliest deadline or 0, ttl, then id, hash of the row that was judged, and answer of each question.
local m = call('HMGET', M, 'e', 'a', 'i')
if not m[1] then return -1 end
local mine = true
for i = 4, #ARGV, 3 do mine = mine and call('HGET', Q, 'a' .. ARGV[i]) == ARGV[i + 2] end
if mine then return tonumber(m[3]) end -- sent again after its reply was lost
local deadline = tonumber(ARGV[2])
if m[2] ~= ARGV[1] or deadline > 0 and now >= deadline then return -1 end
local rows = {}
for i = 4, #ARGV, 3 do
  rows[i] = call('HGET', Q, 'q' .. ARGV[i])
  if not rows[i] or redis.sha1hex(rows[i]) ~= ARGV[i + 1] then return -1 end
end
for i = 4, #ARGV, 3 do
  call('HSET', Q, 'q' .. ARGV[i], '1' .. string.sub(rows[i], 2), 'a' .. ARGV[i], ARGV[i + 2])
end
local inbox = call('HINCRBY', M, 'i', 1)
touch(tonumber(ARGV[3]))
return inbox
