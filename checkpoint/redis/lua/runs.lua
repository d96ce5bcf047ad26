-- ARGV: run ids, or none for a list of the ids. Returns the ids, or id, row and outcome of each.
local out = {}
if #ARGV == 0 then
  for _, field in ipairs(call('HKEYS', Q)) do
    if string.sub(field, 1, 1) == 'r' then out[#out + 1] = string.sub(field, 2) end
  end
  return out
end
for _, id in ipairs(ARGV) do
  local v = call('HMGET', Q, 'r' .. id, 'e' .. id)
  out[#out + 1] = id
  out[#out + 1] = v[1]
  out[#out + 1] = v[2]
end
return out
