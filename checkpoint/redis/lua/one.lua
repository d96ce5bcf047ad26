-- The ordinary superstep: one record and nothing else. It is apart because half the time of the longer script goes into what this
-- one does not need. Whatever does not fit is left to that one. KEYS: head, records. ARGV: nonce, order last acknowledged or
-- empty, branch, chain, position before, position, field, record. Returns the inbox number or nothing.
if redis.replicate_commands then redis.replicate_commands() end
local call, sub = redis.call, string.sub
local m = call('HMGET', KEYS[1], 'n', 'i', 'b', 'y', 't', ARGV[4])
if m[1] ~= ARGV[1] or ARGV[2] ~= '' and m[4] ~= ARGV[2] or m[5] ~= '0' or tonumber(ARGV[3]) >= tonumber(m[3]) then return false end
local first, last = '0 ', '-1'
if m[6] then first, last = string.match(m[6], '^(%d+ )(%d+) ') end
if last ~= ARGV[5] then return false end
local clock, record = call('TIME'), ARGV[8]
local at = '0' .. clock[1] .. sub('00000' .. clock[2], -6, -4)
call('HSET', KEYS[2], ARGV[7], at .. record)
call('HSET', KEYS[1], 'y', sub(record, 10, 17), ARGV[4], first .. ARGV[6] .. ' ' .. at .. sub(record, 1, 34))
return m[2]
