-- ARGV: p for those that are not closed, a for all, i for those whose ids follow. Returns the time, the epoch or nothing, the
-- active branch, and id, row and answer of each.
local ids = {}
if ARGV[1] == 'p' then ids = pending()
elseif ARGV[1] == 'i' then
  for i = 2, #ARGV do ids[#ids + 1] = ARGV[i] end
else
  for _, field in ipairs(call('HKEYS', Q)) do
    if string.sub(field, 1, 1) == 'q' then ids[#ids + 1] = string.sub(field, 2) end
  end
end
local m = call('HMGET', M, 'e', 'a')
local out = {now, m[1], m[2]}
for _, id in ipairs(ids) do
  local v = call('HMGET', Q, 'q' .. id, 'a' .. id)
  out[#out + 1] = id
  out[#out + 1] = v[1]
  out[#out + 1] = v[2]
end
return out
