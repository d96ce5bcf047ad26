// Command benchtable runs the benchmarks that have a bar and prints what they measured beside the bar.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// A bar is one line of the table: a metric of a benchmark and what it must keep to.
type bar struct {
	line, pkg, bench, metric string // "a : b" is the ratio of two metrics of one run
	most                     bool   // at most the limit; otherwise at least
	limit                    float64
	beside                   string // metrics that are printed beside it, from the same run
}

var bars = []bar{
	{"E8", "./state", "BenchmarkE8/List", "growth@10k", true, 1.3, ""},
	{"E8", "./state", "BenchmarkE8/List", "growth@1M", true, 1.3, ""},
	{"E8", "./state", "BenchmarkE8/Map", "growth@1M : growth-map@1M", true, 1.5, "growth-map@1M"},
	{"E8", "./state", "BenchmarkE8/Keyed", "growth@1M : growth-map@1M", true, 1.5, "growth-map@1M"},
	{"E51", "./graph", "BenchmarkE51", "ns/superstep", true, 1000, "p50-ns p99-ns ns/goroutine"},
	{"E51", "./graph", "BenchmarkE51", "allocs/superstep", true, 6, ""},
	{"E52", "./graph", "BenchmarkE52/100000", "x-of-100", true, 1.3, "ns/superstep p50-ns p99-ns"},
	{"E52", "./graph", "BenchmarkE52/100000", "bytes-of-100", true, 1.3, "bytes/superstep"},
	{"E53", "./graph", "BenchmarkE53", "writes-beyond-steps", true, 1, "writes reads steps"},
	{"E54", "./checkpoint/sqlite", "BenchmarkRatio/FULL/bytes=2048", "ratio", false, 0.8, "p50-us p99-us bare-p50-us bare-p99-us fsync-p50-us"},
	{"E54", "./checkpoint/sqlite", "BenchmarkRatio/NORMAL/bytes=2048", "ratio", false, 0.5, "p50-us p99-us bare-p50-us bare-p99-us fsync-p50-us"},
	{"E54", "./checkpoint/sqlite", "BenchmarkRatio/FULL/bytes=2048", "group-ratio", false, 3, "append64/s p99-64-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=always/bytes=2048", "ratio", false, 0.75, "p50-us p99-us set-p50-us set-p99-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=always/bytes=2048", "ratio64", false, 0.6, "append64/s p99-64-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=everysec/bytes=2048", "ratio", false, 0.75, "p50-us p99-us set-p50-us set-p99-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=everysec/bytes=2048", "ratio64", false, 0.6, "append64/s p99-64-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=none/bytes=2048", "ratio", false, 0.75, "p50-us p99-us set-p50-us set-p99-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=none/bytes=2048", "ratio64", false, 0.6, "append64/s p99-64-us"},
	{"E54", "./checkpoint/postgres", "BenchmarkRatio/ON/bytes=2048", "ratio", false, 0.8, "p50-us p99-us bare-p50-us bare-p99-us fsync-p50-us"},
	{"E54", "./checkpoint/postgres", "BenchmarkRatio/ON/bytes=2048", "group-ratio", false, 1.5, "append64/s bare64/s p99-64-us"},
	{"E56", "./graph", "BenchmarkE56/", "read-16KiB/state", true, 2, ""},
	{"E56", "./graph", "BenchmarkE56/", "stored/written", true, 2, ""},
	{"R64", "./memory/working", "BenchmarkAssemble", "p50-us", true, 5000, "p99-us tokens"},
	{"turn", "./nodes", "BenchmarkTurn/behind=10", "over-p50-us", true, 10_000, "over-p99-us p50-us p99-us bare-p50-us bare-p99-us commits"},
	{"turn", "./nodes", "BenchmarkTurn/behind=100", "over-p50-us", true, 10_000, "over-p99-us p50-us p99-us bare-p50-us bare-p99-us commits"},
	{"turn", "./nodes", "BenchmarkTurn/behind=500", "over-p50-us", true, 10_000, "over-p99-us p50-us p99-us bare-p50-us bare-p99-us commits"},
}

// rates are benchmarks without a bar: appends of each store, as checkpointtest.Bench measures them. They belong to a machine.
var rates = []struct{ store, pkg, bench string }{
	{"memory", "./checkpoint", "BenchmarkMemory"},
	{"SQLite FULL", "./checkpoint/sqlite", "BenchmarkStore"},
	{"Postgres on", "./checkpoint/postgres", "BenchmarkStore"},
	{"Redis always", "./checkpoint/redis", "BenchmarkStore"},
}

const (
	barred  = "^Benchmark(E[0-9]+|Ratio|Assemble|Turn)$"
	appends = "^Benchmark(Memory|Store)$/^writers=/^bytes=2048$"
)

// A figure names what was measured.
type figure struct{ pkg, bench, metric string }

// figures has one value a run.
type figures map[figure][]float64

func main() {
	runs := flag.Int("runs", 5, "how often each benchmark is run; the median counts")
	flag.Parse()
	found := figures{}
	for _, pkg := range []string{"./state", "./graph", "./checkpoint/sqlite", "./checkpoint/postgres", "./checkpoint/redis", "./memory/working", "./nodes"} {
		exitIf(found.run(pkg, barred, "1x", *runs))
	}
	for _, r := range rates {
		exitIf(found.run(r.pkg, appends, "5000x", *runs))
	}
	if complete := found.print(); !found.printRates() || !complete {
		os.Exit(1)
	}
}

func exitIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// run runs the benchmarks of one package and collects their metrics.
func (found figures) run(pkg, bench, benchtime string, runs int) error {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", bench, "-benchtime", benchtime, "-count", strconv.Itoa(runs), "-timeout", "30m", pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Println(lines.Text())
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name, _, _ := cutLast(f[0], "-")
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return fmt.Errorf("%s: %w", lines.Text(), err)
			}
			k := figure{pkg, name, f[i+1]}
			found[k] = append(found[k], v)
		}
	}
	if err := cmp.Or(lines.Err(), cmd.Wait()); err != nil {
		return fmt.Errorf("%s: %w", pkg, err)
	}
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// median sorts the values of a figure.
func (found figures) median(f figure) (mid, least, most float64, ok bool) {
	v := found[f]
	if len(v) == 0 {
		return 0, 0, 0, false
	}
	slices.Sort(v)
	return v[len(v)/2], v[0], v[len(v)-1], true
}

// print prints the table and reports whether every bar has a figure.
func (found figures) print() bool {
	fmt.Printf("\n| line | benchmark | metric | bar | median | min | max | kept | beside |\n|---|---|---|---|---|---|---|---|---|\n")
	complete := true
	for _, b := range bars { // before anything is sorted
		found.divide(b)
	}
	for _, b := range bars {
		names := found.matching(b)
		if len(names) == 0 {
			fmt.Printf("| %s | %s | %s | | no figure | | | | |\n", b.line, b.bench, b.metric)
			complete = false
		}
		for _, name := range names {
			mid, least, most, _ := found.median(figure{b.pkg, name, b.metric})
			sign, kept := "at least", mid >= b.limit
			if b.most {
				sign, kept = "at most", mid <= b.limit
			}
			var beside []string
			for metric := range strings.FieldsSeq(b.beside) {
				if x, _, _, ok := found.median(figure{b.pkg, name, metric}); ok {
					beside = append(beside, fmt.Sprintf("%s %.4g", metric, x))
				}
			}
			fmt.Printf("| %s | %s | %s | %s %g | %.4g | %.4g | %.4g | %s | %s |\n", b.line, strings.TrimPrefix(name, "Benchmark"), b.metric, sign, b.limit,
				mid, least, most, map[bool]string{true: "yes", false: "NO"}[kept], strings.Join(beside, ", "))
		}
	}
	return complete
}

// printRates prints the rates of the stores and reports whether all are there.
func (found figures) printRates() bool {
	fmt.Printf("\n| store | threads at once | appends/s of 2 KB | median us | 99 %% us |\n|---|---|---|---|---|\n")
	complete := true
	for _, r := range rates {
		for _, writers := range []int{1, 64} {
			bench := fmt.Sprintf("%s/writers=%d/bytes=2048", r.bench, writers)
			rate, _, _, ok := found.median(figure{r.pkg, bench, "appends/s"})
			mid, _, _, _ := found.median(figure{r.pkg, bench, "p50-us"})
			late, _, _, _ := found.median(figure{r.pkg, bench, "p99-us"})
			if complete = complete && ok; !ok {
				fmt.Printf("| %s | %d | no figure | | |\n", r.store, writers)
				continue
			}
			fmt.Printf("| %s | %d | %.0f | %.0f | %.0f |\n", r.store, writers, rate, mid, late)
		}
	}
	return complete
}

// divide makes the figures of a bar that is a ratio, run by run.
func (found figures) divide(b bar) {
	x, y, ok := strings.Cut(b.metric, " : ")
	if !ok {
		return
	}
	over, under, to := found[figure{b.pkg, b.bench, x}], found[figure{b.pkg, b.bench, y}], figure{b.pkg, b.bench, b.metric}
	for i := range min(len(over), len(under)) {
		found[to] = append(found[to], over[i]/under[i])
	}
}

// matching lists the benchmarks of a bar: the one of that name, or all below it when the name ends in a slash.
func (found figures) matching(b bar) (names []string) {
	for f := range found {
		if f.pkg == b.pkg && f.metric == b.metric && (f.bench == b.bench || strings.HasSuffix(b.bench, "/") && strings.HasPrefix(f.bench, b.bench)) {
			names = append(names, f.bench)
		}
	}
	slices.Sort(names)
	return names
}
