-- ARGV: letter, from, to, count; of questions: q, score and member after which the page begins, count. Returns the time and
-- members; of questions each with its score.
local out = {now}
if ARGV[1] ~= 'q' then
  for _, m in ipairs(call('ZRANGEBYLEX', set[ARGV[1]], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])) do out[#out + 1] = m end
  return out
end
local key, score, after = set.q, ARGV[2], ARGV[3]
local function behind(m) -- m is after the place, as bytes
  for i = 1, math.min(#m, #after) do
    local x, y = string.byte(m, i), string.byte(after, i)
    if x ~= y then return x > y end
  end
  return #m > #after
end
local lo, hi = call('ZCOUNT', key, '-inf', '(' .. score), call('ZCOUNT', key, '-inf', score)
while lo < hi do
  local mid = math.floor((lo + hi) / 2)
  if behind(call('ZRANGE', key, mid, mid)[1]) then hi = mid else lo = mid + 1 end
end
for _, m in ipairs(call('ZRANGE', key, lo, lo + tonumber(ARGV[4]) - 1, 'WITHSCORES')) do out[#out + 1] = m end
return out
