-- ARGV: branch or -1, namespace, first and last position (-1: the tail), largest order or empty, limit or 0, 1 for the newest, 1
-- without bodies. Returns the branch, the first and last position that match, the thread's creation, and the first of these
-- records: what is left is asked for again, so that no call holds up the server for long.
local branch, m = tonumber(ARGV[1]), call('HMGET', M, 'a', 'c')
if branch < 0 then branch = tonumber(m[1] or 0) end
local first, last = chain('k' .. branch .. '/' .. ARGV[2])
if not first then return {branch, 0, -1, m[2]} end
local prefix = branch .. '/' .. ARGV[2] .. '/'
local lo, hi, limit = math.max(first, tonumber(ARGV[3])), last, tonumber(ARGV[6])
if tonumber(ARGV[4]) >= 0 then hi = math.min(hi, tonumber(ARGV[4])) end
if ARGV[5] ~= '' then -- orders ascend along a chain
  local a, b = lo - 1, hi
  while a < b do
    local mid = math.floor((a + b + 1) / 2) -- ceil of a half below zero would be -0, which is another field
    local x = call('HGET', J, prefix .. mid)
    if less(ARGV[5], string.sub(x, 24, 31)) then b = mid - 1 else a = mid end
  end
  hi = a
end
if limit > 0 and hi - lo + 1 > limit then
  if ARGV[7] == '1' then lo = hi - limit + 1 else hi = lo + limit - 1 end
end
local out, bytes = {branch, lo, hi, m[2]}, 0
for pos = lo, hi do
  local x = call('HGET', J, prefix .. pos)
  if x and ARGV[8] == '1' then x = string.sub(x, 1, 48) end
  out[#out + 1] = x
  bytes = bytes + (x and #x or 0)
  if #out >= 1004 or bytes > 8388608 then break end
end
return out
