-- The part of a write that Append and Acquire share: records, used questions, a branch, the active branch.
local p = 1

local function arg()
  p = p + 1
  return ARGV[p - 1]
end

local function parse()
  local w = {records = {}, closed = {}, tails = {}}
  for i = 1, tonumber(arg()) do
    w.records[i] = {branch = tonumber(ARGV[p]), chain = ARGV[p + 1], field = ARGV[p + 2], pos = tonumber(ARGV[p + 3]), value = ARGV[p + 4]}
    p = p + 5
  end
  for i = 1, tonumber(arg()) do w.closed[i] = arg() end
  local n = arg()
  if n ~= '' then w.branch = {n = tonumber(n), name = arg(), row = arg()} end
  w.active = tonumber(arg())
  return w
end

-- written reports whether the write is there, by writer and order of the last record of each chain: those before it came with it
-- and may have been trimmed since. Where the last ones were trimmed too, it is there if the holder still is the writer
-- and the thread's last order, y, is not before it.
local function written(w, mine, y)
  local last, found = {}, false
  for _, r in ipairs(w.records) do last[r.chain] = r end
  for field, r in pairs(last) do
    local first = chain(field)
    if not first then return false end
    if r.pos >= first then
      local x = call('HGET', J, r.field)
      if not x or string.sub(x, 16, 31) ~= string.sub(r.value, 2, 17) then return false end
      found = true
    end
  end
  return found or mine and y and #w.records > 0 and not less(y, string.sub(w.records[#w.records].value, 10, 17))
end

-- fits reports whether each record comes right after the tail of its chain, and the branches are as expected. The second
-- result says that a position is beyond the tail.
local function fits(w, branches)
  if w.branch then
    if w.branch.n ~= branches or call('HEXISTS', Q, 'n' .. w.branch.name) == 1 then return false end
    branches = branches + 1
  end
  for _, r in ipairs(w.records) do
    local t = w.tails[r.chain]
    if not t then
      local first, last = chain(r.chain)
      t = {first = first or 0, last = last or -1}
      w.tails[r.chain] = t
    end
    if r.pos ~= t.last + 1 then return false, r.pos > t.last + 1 end
    if r.branch >= branches then return false end
    t.last, t.record = r.pos, r
  end
  return not w.active or w.active >= 0 and w.active < branches
end

-- apply stores what fits. The first command needs memory, so that a full server refuses all of it: a script does not roll back.
local function apply(w, takeovers)
  local entry = false
  for _, r in ipairs(w.records) do
    call('HSET', J, r.field, at .. r.value)
    entry = entry or string.sub(r.value, 34, 34) == 'E'
  end
  for field, t in pairs(w.tails) do
    call('HSET', M, field, t.first .. ' ' .. t.last .. ' ' .. at .. string.sub(t.record.value, 1, 34))
  end
  if #w.records > 0 then
    call('HSET', M, 'y', string.sub(w.records[#w.records].value, 10, 17))
  end
  if entry and takeovers ~= '0' then call('HSET', M, 't', 0) end
  if #w.closed > 0 then
    local closed, left = {}, {}
    for _, id in ipairs(w.closed) do
      closed[id] = true
      local v = call('HGET', Q, 'q' .. id)
      if v then call('HSET', Q, 'q' .. id, '2' .. string.sub(v, 2)) end
    end
    for _, id in ipairs(pending()) do
      if not closed[id] then left[#left + 1] = id end
    end
    if #left == 0 then call('HDEL', M, 'p') else call('HSET', M, 'p', table.concat(left, '\0')) end
  end
  if w.branch then
    call('HSET', Q, 'b' .. w.branch.n, w.branch.row, 'n' .. w.branch.name, w.branch.n)
    call('HINCRBY', M, 'b', 1)
  end
  if w.active then call('HSET', M, 'a', w.active) end
end

-- status sets the status of the thread and its latest run.
local function status(run, s, why)
  call('HSET', M, 's', s, 'u', string.format('%.0f', now))
  if run and run ~= '' then
    call('HSET', Q, 'e' .. run, s .. (tonumber(s) >= 3 and at or '00000000000000') .. why)
  end
end
