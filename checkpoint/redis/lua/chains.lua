-- ARGV: branch or -1. Returns the branch, and field and value of each chain.
local branch = tonumber(ARGV[1])
if branch < 0 then branch = tonumber(call('HGET', M, 'a') or 0) end
local prefix, all, out = 'k' .. branch .. '/', call('HGETALL', M), {branch}
for i = 1, #all, 2 do
  if string.sub(all[i], 1, #prefix) == prefix then
    out[#out + 1] = all[i]
    out[#out + 1] = all[i + 1]
  end
end
return out
