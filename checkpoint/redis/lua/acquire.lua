-- ARGV: mode, epoch, nonce seen, nonce, length of the lease, holder, owner, until when the announcement holds, ttl; id of a
-- run or empty, its request, row, graph and metadata; 1 to resume; the status that a run starts with; 1 for a run that was there before; the
-- write.
local mode, epoch, seen, nonce, lease = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
local valid, ttl, run, request = tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10], ARGV[11]
local first, again = ARGV[16], ARGV[17] == '1'
p = 18
local w = parse()
local h = head()
local e, held = tonumber(h[1] or 0), h[1] and h[2] ~= ''
if held and h[2] == nonce then return {'ok', now, h} end
if run ~= '' and not again then
  local same = call('HEXISTS', Q, 'r' .. run) == 1 and run or request ~= '' and call('HGET', Q, 'R' .. request)
  if same then return {'duplicate', same, call('HGET', Q, 'r' .. same), call('HGET', Q, 'e' .. same)} end
end
local ok
if mode == '0' then ok = not held and e == epoch
elseif mode == '1' then ok = held and tonumber(h[3]) <= now
else ok = held and h[2] == seen end
if not ok then return {'held'} end
if not fits(w, tonumber(h[8] or 1)) or again and call('HEXISTS', Q, 'r' .. run) == 0 then return {'stale'} end
if now > valid then return {'late'} end
if not keep(ttl) then return {'expiring'} end

local ms = string.format('%.0f', now)
if e == 0 then
  if call('EXISTS', J, Q) > 0 then call('DEL', J, Q) end -- somebody took the head away and nothing else
  call('HSET', M, 'i', 0, 'a', 0, 'b', 1, 'r', '', 's', 0, 'g', '', 'o', ARGV[7], 'c', ms, 'u', ms, 'x', '', 't', 0)
end
call('HSET', M, 'e', e + 1, 'n', nonce, 'l', string.format('%.0f', now + lease), 'h', ARGV[6], 't', mode == '0' and 0 or tonumber(h[5]) + 1)
if run ~= '' then
  if h[10] == '1' or h[10] == '2' then call('HSET', M, 'v', 1) end -- a run is left behind that never ended
  call('HSET', M, 'r', run, 'g', ARGV[13], 'd', ARGV[14])
  if again then
    status('', first, '')
  else
    call('HSET', Q, 'r' .. run, at .. ARGV[12])
    if request ~= '' then call('HSET', Q, 'R' .. request, run) end
    status(run, first, '')
  end
elseif ARGV[15] == '1' then
  status(h[9], '1', '')
end
apply(w, '0')
return {'ok', now, head()}
