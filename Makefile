# make test is what must pass before a change is merged. It requires what it tests: with HOLDFAST_REQUIRE set, a test that
# cannot start its server fails instead of skipping.
SHELL       := /bin/bash
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

.PHONY: test unit property race lint cross crash crash-long dialogues bench eval fuzz vuln fresh compiler servers stores full weave

test: lint unit stores property race crash # for other systems: make cross, which compiles every dependency for each of them

unit: servers # without the crash suite, which is skipped by -short
	HOLDFAST_REQUIRE=1 go test -vet=off -short -timeout 4m ./... # lint has vetted it

stores: servers # the whole suite of the example on each store, each dialogue with a process killed somewhere; unit plays four of them
	go test -count=1 -timeout 4m -run '^TestDialogues' ./examples/aftersales # unit has the rest on SQLite
	for s in postgres redis; do HOLDFAST_REQUIRE=1 HOLDFAST_STORE=$$s go test -count=1 -timeout 4m ./examples/aftersales || exit 1; done

full: servers # what the tests of the stores, of the graph and of memory leave out in short mode
	HOLDFAST_REQUIRE=1 go test -count=1 -timeout 30m ./checkpoint/... ./internal/stores ./graph ./memory/longterm/... ./memory/knowledge/...

property: servers # random graphs against the plain model, random prompts against the rules; unit and race run a tenth of them
	HOLDFAST_REQUIRE=1 go test -count=1 -timeout 4m ./internal/modeltest
	HOLDFAST_LONG=1 go test -count=1 -timeout 5m -run "TestRandomInputs|TestAnyConversationHasAPrompt|TestCutStreams" ./memory/working ./memory ./nodes/openai

# What is left out works on one goroutine, or is processes that are killed and servers that are waited for, which unit and stores have:
# the suites of the boxes run here over their stores in memory and on SQLite.
RACED = $$(go list ./... | grep -vE '/examples/aftersales$$|/govern$$|/internal/(boxes|eval|readme|spectest)$$|/memory/(compact|pin|extract|guard|internal/relate|working/tiktoken|audit/postgres|longterm/postgres|knowledge/postgres)$$')
race: compiler servers
	CGO_ENABLED=1 HOLDFAST_REQUIRE=1 go test -vet=off -race -short -timeout 4m $(RACED)

crash: servers # victims are killed with SIGKILL; built without -race, whose binaries take a second to exit. It says how many hit
	HOLDFAST_REQUIRE=1 go test -count=1 -v -run '^TestCrash' -timeout 8m ./internal/crash

# Ten thousand kills at random on each store, or on the one that HOLDFAST_CRASH_STORE names (sqlite, postgres, redis), then every
# named trial and at least 500 turns on one thread. Each hundred trials print how to repeat them and how to go on.
crash-long: servers
	HOLDFAST_CRASH_KILLS=$${HOLDFAST_CRASH_KILLS:-10000} HOLDFAST_CRASH_PART=1 HOLDFAST_CRASH_TURNS=750 HOLDFAST_REQUIRE=1 \
	go test -count=1 -v -run '^TestCrash|^TestTurnsInMemory' -timeout 0 ./internal/crash

# Each dialogue of the example with a process killed at every point there is on SQLite, and at some on the servers. It prints how to repeat the latter.
dialogues: servers
	HOLDFAST_DIALOGUE_KILLS=all go test -count=1 -v -run '^TestDialogues$$' -parallel 4 -timeout 0 ./examples/aftersales
	for s in postgres redis; do HOLDFAST_REQUIRE=1 HOLDFAST_STORE=$$s HOLDFAST_DIALOGUE_KILLS=$${HOLDFAST_DIALOGUE_KILLS:-20} \
	go test -count=1 -v -run '^TestDialogues$$' -parallel 4 -timeout 0 ./examples/aftersales || exit 1; done

weave: servers # a thousand interleavings of people and workers on one thread, some of them frozen past their lease, on each store
	for s in sqlite postgres redis; do HOLDFAST_WEAVE=$$s HOLDFAST_REQUIRE=1 go test -count=1 -v -run '^TestWeave$$' -timeout 30m ./graph || exit 1; done

lint:
	@files=$$(gofmt -l .) && [ -z "$$files" ] || { echo "run gofmt -w on: $$files" >&2; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...

# The other systems compile, tests too. What imports openai-go is left out: that takes minutes for each system, and has nothing of a
# system in it. `make cross SLOW=none` leaves nothing out.
SLOW ?= /nodes$$|/nodes/openai$$|/examples/aftersales$$
SYSTEMS = windows darwin
cross:
	for os in $(SYSTEMS); do CGO_ENABLED=0 GOOS=$$os go vet $$(go list ./... | grep -vE '$(SLOW)') || exit 1; done

bench: # five runs, the median beside its bar, and the rates of the stores
	go run ./internal/benchtable

eval: # measures over public sets, in the folder that HOLDFAST_EVAL_DATA names; WRITE=docs/memory.md writes the tables there
	@[ -n "$$HOLDFAST_EVAL_DATA" ] || { echo "HOLDFAST_EVAL_DATA must name the folder of the public sets"; exit 1; }
	go test -count=1 -v -run '^TestEstimateOfPublicSets$$' ./memory/working/tiktoken
	go run ./internal/eval $(if $(WRITE),-write $(WRITE))

FUZZTIME ?= 30s
fuzz: # every fuzz target of the module in turn, each for FUZZTIME
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for name in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do echo "$$pkg $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

vuln: # apart from test: its database needs a network
	go run $(GOVULNCHECK) ./...

fresh: # the committed tree, with empty caches
	@dir=$$(mktemp -d) && trap "rm -rf $$dir" EXIT && git clone -q . $$dir/src && \
	GOMODCACHE=$$dir/mod GOCACHE=$$dir/cache GOFLAGS=-modcacherw $$dir/src/.ci/run

compiler: # the race detector needs a C compiler
	@command -v $$(go env CC) >/dev/null || { echo "the race detector needs a C compiler"; scripts/install.sh gcc libc6-dev; }

servers: # real servers, which the tests start by themselves; HOLDFAST_POSTGRES_URL and HOLDFAST_REDIS_URL name others
	@have() { command -v $$1 || ls /usr/lib/postgresql/*/bin/$$1; } >/dev/null 2>&1; need=; \
	[ -n "$$HOLDFAST_POSTGRES_URL" ] || { have initdb && have postgres; } || need="$$need postgresql"; \
	have pgbouncer || need="$$need pgbouncer"; \
	[ -n "$$HOLDFAST_REDIS_URL" ] || have redis-server || need="$$need redis-server"; \
	[ -z "$$need" ] || { echo "the tests need$$need"; scripts/install.sh $$need; } || exit 1; \
	[ -n "$$HOLDFAST_POSTGRES_URL" ] || scripts/pgvector.sh
