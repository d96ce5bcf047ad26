package redis

import (
	"context"
	_ "embed"

	"github.com/holdfast-go/holdfast/checkpoint"
	goredis "github.com/redis/go-redis/v9"
)

// The parts of the scripts. No text of a caller is ever part of a script.
var (
	//go:embed lua/common.lua
	luaCommon string
	//go:embed lua/write.lua
	luaWrite string
	//go:embed lua/one.lua
	luaOne string
	//go:embed lua/append.lua
	luaAppend string
	//go:embed lua/acquire.lua
	luaAcquire string
	//go:embed lua/release.lua
	luaRelease string
	//go:embed lua/renew.lua
	luaRenew string
	//go:embed lua/load.lua
	luaLoad string
	//go:embed lua/read.lua
	luaRead string
	//go:embed lua/chains.lua
	luaChains string
	//go:embed lua/trim.lua
	luaTrim string
	//go:embed lua/questions.lua
	luaQuestions string
	//go:embed lua/answer.lua
	luaAnswer string
	//go:embed lua/post.lua
	luaPost string
	//go:embed lua/inbox.lua
	luaInbox string
	//go:embed lua/head.lua
	luaHead string
	//go:embed lua/runs.lua
	luaRuns string

	//go:embed lua/index.lua
	luaIndex string
	//go:embed lua/announce.lua
	luaAnnounce string
	//go:embed lua/page.lua
	luaPage string
	//go:embed lua/prune.lua
	luaPrune string
)

var (
	scriptOne       = goredis.NewScript(luaOne)
	scriptAppend    = goredis.NewScript(luaCommon + luaWrite + luaAppend)
	scriptAcquire   = goredis.NewScript(luaCommon + luaWrite + luaAcquire)
	scriptRelease   = goredis.NewScript(luaCommon + luaRelease)
	scriptRenew     = goredis.NewScript(luaCommon + luaRenew)
	scriptLoad      = goredis.NewScript(luaCommon + luaLoad)
	scriptRead      = goredis.NewScript(luaCommon + luaRead)
	scriptChains    = goredis.NewScript(luaCommon + luaChains)
	scriptTrim      = goredis.NewScript(luaCommon + luaTrim)
	scriptQuestions = goredis.NewScript(luaCommon + luaQuestions)
	scriptAnswer    = goredis.NewScript(luaCommon + luaAnswer)
	scriptPost      = goredis.NewScript(luaCommon + luaPost)
	scriptInbox     = goredis.NewScript(luaCommon + luaInbox)
	scriptHead      = goredis.NewScript(luaCommon + luaHead)
	scriptRuns      = goredis.NewScript(luaCommon + luaRuns)
	scriptAnnounce  = goredis.NewScript(luaIndex + luaAnnounce)
	scriptPage      = goredis.NewScript(luaIndex + luaPage)
	scriptPrune     = goredis.NewScript(luaIndex + luaPrune)
)

// A value is an argument of a script: string, []byte or a whole number.
type value = any

// eval runs a script on a thread: by its hash, and with its text if the server does not know it.
func (s *Store) eval(ctx context.Context, script *goredis.Script, key checkpoint.Key, args ...value) *reply {
	v, err := script.Run(ctx, s.client, s.keys(key), args...).Result()
	return newReply(v, err)
}

// A task is one script on one hash tag.
type task struct {
	keys []string
	args []value
}

// evalAll runs a script once for each task, in one round trip a server.
func evalAll(ctx context.Context, client goredis.UniversalClient, script *goredis.Script, tasks []task) []*reply {
	out := make([]*reply, len(tasks))
	if len(tasks) == 0 {
		return out
	}
	cmds, _ := client.Pipelined(ctx, func(p goredis.Pipeliner) error { // each command has its error
		for _, t := range tasks {
			p.EvalSha(ctx, script.Hash(), t.keys, t.args...)
		}
		return nil
	})
	for i, t := range tasks {
		v, err := cmds[i].(*goredis.Cmd).Result()
		if goredis.HasErrorPrefix(err, "NOSCRIPT") {
			v, err = script.Run(ctx, client, t.keys, t.args...).Result()
		}
		out[i] = newReply(v, err)
	}
	return out
}
