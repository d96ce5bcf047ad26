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
	{"E54", "./checkpoint/sqlite", "BenchmarkRatio/FULL/bytes=2048", "ratio", false, 0.8, "p50-us p99-us bare-p50-us bare-p99-us fsync-p50-us"},
	{"E54", "./checkpoint/sqlite", "BenchmarkRatio/NORMAL/bytes=2048", "ratio", false, 0.5, "p50-us p99-us bare-p50-us bare-p99-us fsync-p50-us"},
	{"E54", "./checkpoint/sqlite", "BenchmarkRatio/FULL/bytes=2048", "group-ratio", false, 3, "append64/s p99-64-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=always/bytes=2048", "ratio", false, 0.75, "p50-us p99-us set-p50-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=always/bytes=2048", "ratio64", false, 0.6, "append64/s p99-64-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=everysec/bytes=2048", "ratio", false, 0.75, "p50-us p99-us set-p50-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=everysec/bytes=2048", "ratio64", false, 0.6, "append64/s p99-64-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=none/bytes=2048", "ratio", false, 0.75, "p50-us p99-us set-p50-us"},
	{"E54", "./checkpoint/redis", "BenchmarkRatio/aof=none/bytes=2048", "ratio64", false, 0.6, "append64/s p99-64-us"},
	{"E54", "./checkpoint/postgres", "BenchmarkRatio/ON/bytes=2048", "ratio", false, 0.8, "fsync-p50-us"},
	{"E54", "./checkpoint/postgres", "BenchmarkRatio/ON/bytes=2048", "group-ratio", false, 1.5, "append64/s"},
	{"E56", "./graph", "BenchmarkE56/", "read-16KiB/state", true, 2, ""},
	{"E56", "./graph", "BenchmarkE56/", "stored/written", true, 2, ""},
}

func main() {
	runs := flag.Int("runs", 5, "how often each benchmark is run; the median counts")
	flag.Parse()
	found := map[string][]float64{} // "bench metric" -> one value a run
	for _, pkg := range []string{"./state", "./graph", "./checkpoint/sqlite", "./checkpoint/postgres", "./checkpoint/redis"} {
		if err := run(pkg, *runs, found); err != nil {
			fmt.Fprintln(os.Stderr, "benchtable:", err)
			os.Exit(1)
		}
	}
	if !print(found) {
		os.Exit(1)
	}
}

// run runs the benchmarks of one package and collects their metrics.
func run(pkg string, runs int, found map[string][]float64) error {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark(E[0-9]+|Ratio)$", "-benchtime", "1x", "-count", strconv.Itoa(runs), "-timeout", "30m", pkg)
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
			k := name + " " + f[i+1]
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

// print prints the table and reports whether every bar has a figure.
func print(found map[string][]float64) bool {
	fmt.Printf("\n| line | benchmark | metric | bar | median | min | max | kept | beside |\n|---|---|---|---|---|---|---|---|---|\n")
	complete := true
	for _, b := range bars { // before anything is sorted
		divide(found, b)
	}
	for _, b := range bars {
		names := matching(found, b)
		if len(names) == 0 {
			fmt.Printf("| %s | %s | %s | | no figure | | | | |\n", b.line, b.bench, b.metric)
			complete = false
		}
		for _, name := range names {
			v := found[name+" "+b.metric]
			slices.Sort(v)
			mid := v[len(v)/2]
			sign, kept := "at least", mid >= b.limit
			if b.most {
				sign, kept = "at most", mid <= b.limit
			}
			var beside []string
			for metric := range strings.FieldsSeq(b.beside) {
				if x := found[name+" "+metric]; len(x) > 0 {
					slices.Sort(x)
					beside = append(beside, fmt.Sprintf("%s %.4g", metric, x[len(x)/2]))
				}
			}
			fmt.Printf("| %s | %s | %s | %s %g | %.4g | %.4g | %.4g | %s | %s |\n", b.line, strings.TrimPrefix(name, "Benchmark"), b.metric, sign, b.limit,
				mid, v[0], v[len(v)-1], map[bool]string{true: "yes", false: "NO"}[kept], strings.Join(beside, ", "))
		}
	}
	return complete
}

// divide makes the figures of a bar that is a ratio, run by run.
func divide(found map[string][]float64, b bar) {
	x, y, ok := strings.Cut(b.metric, " : ")
	if !ok {
		return
	}
	over, under := found[b.bench+" "+x], found[b.bench+" "+y]
	for i := range min(len(over), len(under)) {
		found[b.bench+" "+b.metric] = append(found[b.bench+" "+b.metric], over[i]/under[i])
	}
}

// matching lists the benchmarks of a bar: the one of that name, or all below it when the name ends in a slash.
func matching(found map[string][]float64, b bar) (names []string) {
	for k := range found {
		name, ok := strings.CutSuffix(k, " "+b.metric)
		if ok && (name == b.bench || strings.HasSuffix(b.bench, "/") && strings.HasPrefix(name, b.bench) && !strings.Contains(name, " ")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
