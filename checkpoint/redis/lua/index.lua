-- Begins every script of a shard of the index. KEYS: the suspects; candidates of all threads, live ones, waiting ones, those with
-- commands; questions by age.
if redis.replicate_commands then redis.replicate_commands() end
local call = redis.call
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local set = {a = KEYS[2], l = KEYS[3], w = KEYS[4], i = KEYS[5], q = KEYS[6]}
