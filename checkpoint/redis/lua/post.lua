-- ARGV: until when the announcement holds, ttl, request, sixteen random bytes of this call, kind, body. Returns the number, 0
-- without a thread, -1 if it came too late, -2 if the server
-- does not let the thread stay.
local request, token = ARGV[3], ARGV[4]
if call('EXISTS', M) == 0 then return 0 end
if request ~= '' then
  local n = call('HGET', Q, 'I' .. request)
  if n then return tonumber(n) end
end
local ns = commands()
if #ns > 0 then -- sent again after its reply was lost
  local last = call('HGET', Q, 'i' .. ns[#ns])
  if string.sub(last, #request + 2, #request + 17) == token then return tonumber(ns[#ns]) end
end
if now > tonumber(ARGV[1]) then return -1 end
if not keep(tonumber(ARGV[2])) then return -2 end
local n = call('HINCRBY', M, 'i', 1)
call('HSET', Q, 'i' .. n, request .. '\0' .. token .. at .. ARGV[5] .. ARGV[6])
if request ~= '' then call('HSET', Q, 'I' .. request, n) end
ns[#ns + 1] = n
call('HSET', M, 'w', table.concat(ns, ','))
return n
