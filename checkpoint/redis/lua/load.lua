-- ARGV: branch or -1, namespace. Returns the time, the head, the branch, the first position and the records from the base,
-- questions (id, row, answer), commands (number, row), branches.
local h = head()
if not h[1] then return {now} end
local branch = tonumber(ARGV[1])
if branch < 0 then branch = tonumber(h[7]) end
local records, lo = {}, 0
local first, last, header = chain('k' .. branch .. '/' .. ARGV[2])
if first then
  lo = math.max(first, number(header, 32))
  for i = lo, last, 1000 do
    local fields = {}
    for k = i, math.min(i + 999, last) do fields[#fields + 1] = branch .. '/' .. ARGV[2] .. '/' .. k end
    local got = call('HMGET', J, unpack(fields))
    for k = 1, #fields do records[#records + 1] = got[k] end
  end
end
local questions, inbox, branches = {}, {}, {}
for _, id in ipairs(pending()) do
  local v = call('HMGET', Q, 'q' .. id, 'a' .. id)
  questions[#questions + 1] = id
  questions[#questions + 1] = v[1]
  questions[#questions + 1] = v[2]
end
for _, n in ipairs(commands()) do
  inbox[#inbox + 1] = n
  inbox[#inbox + 1] = call('HGET', Q, 'i' .. n)
end
for i = 1, tonumber(h[8]) - 1 do branches[i] = call('HGET', Q, 'b' .. i) end
return {now, h, branch, lo, records, questions, inbox, branches}
