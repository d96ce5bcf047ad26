-- Returns the time, the head, and whether questions are pending, commands wait, and a run was left behind that never ended.
local f = call('HMGET', M, 'p', 'w', 'v')
return {now, head(), f[1] and 1 or 0, f[2] and 1 or 0, f[3] and 1 or 0}
