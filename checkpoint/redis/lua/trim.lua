-- ARGV: branch or -1, namespace, position below which records go, at most so many. Returns how many went.
local branch = tonumber(ARGV[1])
if branch < 0 then branch = tonumber(call('HGET', M, 'a') or 0) end
local field = 'k' .. branch .. '/' .. ARGV[2]
local first, last, header = chain(field)
if not first then return 0 end
local below = math.min(tonumber(ARGV[3]), last + 1, first + tonumber(ARGV[4]))
if below <= first then return 0 end
for pos = first, below - 1 do call('HDEL', J, branch .. '/' .. ARGV[2] .. '/' .. pos) end
if below > last then call('HDEL', M, field) else call('HSET', M, field, below .. ' ' .. last .. ' ' .. header) end
return below - first
