// Command eval measures how well memory/search finds, over public sets in the folder that HOLDFAST_EVAL_DATA names, and over a set
// that it generates. It prints tables, or writes them into a file, and fails if a bar is not kept. HOLDFAST_EVAL_EMBEDDER, such as http://localhost:11434/v1, and
// HOLDFAST_EVAL_EMBEDDING_MODEL add a search by vectors; HOLDFAST_EVAL_EMBEDDING_KEY is sent if it is set.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	file := flag.String("write", "", "a file with two lines "+mark+", to write the tables between them")
	flag.Parse()
	tables, missed, err := measure(context.Background(), os.Getenv("HOLDFAST_EVAL_DATA"), engines())
	if err == nil && *file != "" {
		err = write(*file, tables)
	} else if err == nil {
		fmt.Println(tables)
	}
	for _, m := range missed {
		err = errors.Join(err, errors.New(m))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func engines() []engine {
	all := []engine{{}}
	if url := os.Getenv("HOLDFAST_EVAL_EMBEDDER"); url != "" {
		all = append(all, engine{server{url, os.Getenv("HOLDFAST_EVAL_EMBEDDING_MODEL"), os.Getenv("HOLDFAST_EVAL_EMBEDDING_KEY")}})
	}
	return all
}

// measure returns the tables of all sets in a folder, and the bars that are not kept.
func measure(ctx context.Context, dir string, engines []engine) (text string, missed []string, err error) {
	sets, err := load(dir)
	if err != nil {
		return "", nil, err
	}
	var tables []string
	for _, s := range sets {
		for i, e := range engines {
			scores, err := s.ask(ctx, e)
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", s.name, err)
			}
			tables = append(tables, s.table(scores, e.name()))
			if i == 0 {
				missed = append(missed, below(s.name, scores)...)
			}
		}
	}
	refused, err := refusal(ctx, sets)
	return strings.Join(append(tables, refused), "\n"), missed, err
}

func load(dir string) ([]set, error) {
	sets := []set{loadMirror()}
	for _, f := range []func(string) (set, error){
		loadLoCoMo,
		func(dir string) (set, error) {
			return loadRGB(dir, "zh_refine", "Chinese web pages in snippets, those of all questions pooled; to be found are those that have the answer.")
		},
		func(dir string) (set, error) {
			return loadRGB(dir, "zh_int", "The same of questions with two aspects, such as two years or two countries: a snippet for each is needed.")
		},
		loadMemoryBank,
	} {
		s, err := f(dir)
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}
