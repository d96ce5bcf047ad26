-- ARGV: member, letters of the sets, ids of questions. Returns the time, which is when the questions are asked.
for letter in string.gmatch(ARGV[2], '.') do
  call('ZADD', set[letter], 0, ARGV[1])
  call('HDEL', KEYS[1], letter .. ARGV[1])
end
for i = 3, #ARGV do
  local member = ARGV[1] .. '\0' .. ARGV[i] .. '\0' .. string.format('%014.0f', now)
  call('ZADD', set.q, string.format('%.0f', now), member)
  call('HDEL', KEYS[1], 'q' .. member)
end
return now
