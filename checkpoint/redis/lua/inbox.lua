-- Returns number and row of each command.
local out = {}
for _, n in ipairs(commands()) do
  out[#out + 1] = n
  out[#out + 1] = call('HGET', Q, 'i' .. n)
end
return out
