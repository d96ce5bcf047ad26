package graphcli

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/graph"
)

// The names in JSON are those that docs/cli.md promises, for every command. // E58
func TestJSONNames(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	promised := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\| ([^|]*) \\|$").FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(m[1], "`, `") {
			promised[strings.Trim(name, "`")] = m[2]
		}
		promised[strings.ReplaceAll(m[1], "`", "")] = m[2]
	}
	for name, typ := range map[string]reflect.Type{
		"threads": reflect.TypeFor[threadRow](), "runs": reflect.TypeFor[listedRun](), "questions": reflect.TypeFor[questionRow](),
		"show": reflect.TypeFor[shown](), "history": reflect.TypeFor[entryRow](), "diff": reflect.TypeFor[change](),
		"answer": reflect.TypeFor[answered](), "fork": reflect.TypeFor[changed](), "edit": reflect.TypeFor[changed](),
		"activate": reflect.TypeFor[changed](), "cancel": reflect.TypeFor[changed](), "retain": reflect.TypeFor[graph.Removed](),
		"delete": reflect.TypeFor[removed](), "anchor": reflect.TypeFor[secure.Anchor](), "verify": reflect.TypeFor[verified](),
		"run": reflect.TypeFor[outcome](), "resume": reflect.TypeFor[outcome](), "recover": reflect.TypeFor[recovered](), "draw": reflect.TypeFor[drawing](),
		"export, thread": reflect.TypeFor[threadLine](), "export, run": reflect.TypeFor[runLine](), "export, question": reflect.TypeFor[questionLine](),
		"export, command": reflect.TypeFor[commandLine](), "export, record": reflect.TypeFor[recordLine](),
	} {
		if got := strings.Join(jsonNames(typ), " "); got != promised[name] {
			t.Errorf("%s has %q; the page says %q", name, got, promised[name])
		}
	}
	for _, cmd := range commands() {
		if promised[cmd.name] == "" && promised[cmd.name+", record"] == "" {
			t.Errorf("the page says nothing of %s", cmd.name)
		}
	}
}

// jsonNames lists the names that encoding/json gives the fields of a struct, embedded ones in their place.
func jsonNames(t reflect.Type) (names []string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Tag.Get("json") == "" {
			names = append(names, jsonNames(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" {
			names = append(names, name)
		}
	}
	return names
}
