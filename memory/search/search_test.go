package search_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// day is a moment on a day that tests share.
var day = time.Date(2023, 5, 8, 12, 0, 0, 0, time.UTC)

func add(t *testing.T, rows search.Rows, shelf string, docs ...search.Doc) {
	t.Helper()
	if err := search.Add(t.Context(), rows, shelf, docs...); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, rows search.Rows, q string, shelves ...string) []search.Hit {
	t.Helper()
	hits, err := search.Search(t.Context(), rows, shelves, search.Query{Text: q, Now: day})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func numbers(hits []search.Hit) []uint32 {
	nos := []uint32{}
	for _, h := range hits {
		nos = append(nos, h.No)
	}
	return nos
}

func TestBothLanguages(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	add(t, rows, "s",
		search.Doc{No: 1, Text: "用户喜欢用表格看报告"},
		search.Doc{No: 2, Text: "The user prefers tables in reports", At: day},
		search.Doc{No: 3, Text: "支付服务 payment-api 报 E504"})
	for q, want := range map[string]uint32{"表格": 1, "table": 2, "E504 是什么": 3, "payment-api": 3, "2023年5月8日": 2, "on 8 May": 2} {
		if hits := find(t, rows, q, "s"); len(hits) == 0 || hits[0].No != want {
			t.Errorf("%q finds %v, want %d first", q, hits, want)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	add(t, rows, "s", search.Doc{No: 1, Text: "one"})
	for _, d := range []search.Doc{{Text: "no number"}, {No: 1, Text: "taken"}} {
		if err := search.Add(t.Context(), rows, "s", d); !errors.Is(err, search.ErrDoc) {
			t.Errorf("Add(%+v): %v, want ErrDoc", d, err)
		}
	}
	add(t, rows, "s", search.Doc{No: 2, Text: "three three four"})
	for _, d := range []search.Doc{
		{No: 1, Text: "two"}, {No: 1, Text: "one", At: day}, {No: 1, Text: "one one"}, {No: 2, Text: "three four four"}, {No: 2, Text: "four"}, {No: 2, Text: "three: three four"},
	} {
		if err := search.Remove(t.Context(), rows, "s", d); !errors.Is(err, search.ErrDoc) {
			t.Errorf("Remove(%+v): %v, want ErrDoc", d, err)
		}
	}
	if hits := find(t, rows, "one", "s"); len(hits) != 1 {
		t.Errorf("after refusals: %v", hits)
	}
}

// T16: five memories that do not fit are no answer; zero hits are possible.
func TestNothingFits(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	for no := range uint32(40) {
		add(t, rows, "s", search.Doc{No: no + 1, Text: "Caroline: the report of service " + words[no%20]}, search.Doc{No: no + 1001, Text: "卡罗琳说服务报告" + string('一'+rune(no))})
	}
	for _, q := range []string{
		"", "的了吗", "what is it?", "!!!", "\xff", // nothing is asked
		"kubernetes", "量子力学", // nobody has it
		"What does Caroline think of kubernetes cluster upgrades?", "请问卡罗琳怎么看量子力学与黑洞蒸发", // all have the name, and nothing else
	} {
		if hits := find(t, rows, q, "s"); len(hits) != 0 {
			t.Errorf("%q finds %+v", q, hits)
		}
	}
	if hits := find(t, rows, "Caroline", "s"); len(hits) != 10 {
		t.Errorf("the name alone finds %d", len(hits))
	}
	if hits := find(t, search.NewMap(), "Caroline", "s"); len(hits) != 0 {
		t.Errorf("an empty index has %v", hits)
	}
}

// Where all documents have a word it still fits: of two versions of one rule both do.
func TestFew(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	for no, text := range []string{"A kettle may be taken back within 30 days.", "A kettle may be taken back within 60 days."} {
		add(t, rows, "s", search.Doc{No: uint32(no + 1), Text: text})
		if hits := find(t, rows, "How long is the warranty of my kettle?", "s"); len(hits) != no+1 {
			t.Errorf("of %d documents: %v", no+1, hits)
		}
	}
}

// R84 T32: what has expired is filtered in the query, not after the first ten are chosen, and counts nowhere.
func TestExpired(t *testing.T) {
	t.Parallel()
	rows, fresh := search.NewMap(), search.NewMap()
	for no := range uint32(60) {
		add(t, rows, "s", search.Doc{No: no + 1, Text: "the pear pear", Expires: day})
	}
	kept := []search.Doc{{No: 70, Text: "one pear among apples", Expires: day.Add(time.Microsecond)}, {No: 71, Text: "apples"}}
	add(t, rows, "s", kept...)
	add(t, fresh, "s", kept...)
	got, want := find(t, rows, "pear", "s"), find(t, fresh, "pear", "s")
	if !slices.Equal(numbers(got), []uint32{70}) || got[0].Score != want[0].Score {
		t.Errorf("found %+v, want %+v", got, want)
	}
	hits, err := search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "pear", Now: day.Add(-1), Limit: 100})
	if err != nil || len(hits) != 61 {
		t.Errorf("before: %d hits (%v)", len(hits), err)
	}
}

// Equal documents come by shelf and number, the same every time.
func TestTies(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	for _, shelf := range []string{"b", "a"} {
		for no := range uint32(50) {
			add(t, rows, shelf, search.Doc{No: 1000 + no*7, Text: "green apple, red plum"})
		}
	}
	for range 5 {
		hits := find(t, rows, "plum or apple", "b", "a")
		for i, h := range hits {
			if h.Shelf != "a" || h.No != 1000+uint32(i)*7 {
				t.Fatalf("hit %d is %s %d", i, h.Shelf, h.No)
			}
		}
		if len(hits) != 10 {
			t.Fatalf("%d hits", len(hits))
		}
	}
}

// Both halves of a question have their turns, and a document its turn once.
func TestAspectsInTurns(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	for no := range uint32(20) {
		add(t, rows, "s", search.Doc{No: no + 1, Text: "上海的人口很多，上海的人口数据"})
	}
	add(t, rows, "s", search.Doc{No: 30, Text: "北京人口"}, search.Doc{No: 31, Text: "上海北京人口"})
	hits := find(t, rows, "上海和北京的人口", "s")
	aspects := map[uint32]int{}
	for _, h := range hits {
		if _, twice := aspects[h.No]; twice {
			t.Errorf("%d comes twice", h.No)
		}
		aspects[h.No] = h.Aspect
	}
	if len(hits) != 10 || hits[0].Aspect != 0 || hits[1].Aspect != 1 || aspects[30] != 1 {
		t.Errorf("found %+v", hits)
	}
}

// T21: what "it" stands for helps, and weighs less than what was asked.
func TestAlso(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	add(t, rows, "s", search.Doc{No: 1, Text: "错误日志 order-api"}, search.Doc{No: 2, Text: "错误日志 payment-api"}, search.Doc{No: 3, Text: "payment-api 负责人"},
		search.Doc{No: 4, Text: "其他"}, search.Doc{No: 5, Text: "别的"})
	hits, err := search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "它的错误日志呢", Also: []string{"payment-api"}, Now: day})
	if err != nil || !slices.Equal(numbers(hits), []uint32{2, 1, 3}) {
		t.Errorf("found %+v (%v)", hits, err)
	}
	hits, err = search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "错误日志", Also: words, Now: day})
	if err != nil || !slices.Equal(numbers(hits), []uint32{1, 2}) || hits[0].Coverage != 1 {
		t.Errorf("much that nobody has takes away %+v (%v)", hits, err)
	}
	hits, err = search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "它呢？", Also: []string{"payment-api"}, Now: day})
	if err != nil || !slices.Equal(numbers(hits), []uint32{3, 2, 1}) || hits[1].Coverage != 1 {
		t.Errorf("of nothing else: %+v (%v)", hits, err)
	}
}

// What was asked weighs more than what it may be about besides, and two characters more than a pair that 的 makes by chance.
func TestWeights(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	add(t, rows, "s", search.Doc{No: 1, Text: "pear"}, search.Doc{No: 2, Text: "plum"}, search.Doc{No: 3, Text: "大猫的小"}, search.Doc{No: 4, Text: "天猫和飞鱼"})
	hits, err := search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "plum", Also: []string{"pear"}, Now: day})
	if err != nil || !slices.Equal(numbers(hits), []uint32{2, 1}) {
		t.Errorf("found %+v (%v)", hits, err)
	}
	if hits := find(t, rows, "猫的鱼", "s"); !slices.Equal(numbers(hits), []uint32{4, 3}) {
		t.Errorf("found %+v", hits)
	}
}

// Who speaks is told apart from who is spoken to.
func TestSpeakers(t *testing.T) {
	t.Parallel()
	for q, said := range map[string][2]string{
		"How did Ben like the concert?": {"Ann: thanks, Ben! Ben, the concert was great", "Ben: thanks, Ann! the concert was great"},
		"小本觉得音乐会怎么样":                    {"安娜：谢谢小本！小本，音乐会很好", "小本：谢谢安娜！音乐会很好"},
	} {
		rows := search.NewMap()
		add(t, rows, "s", search.Doc{No: 1, Text: said[0]}, search.Doc{No: 2, Text: said[1]})
		if hits := find(t, rows, q, "s"); !slices.Equal(numbers(hits), []uint32{2, 1}) {
			t.Errorf("%q finds %+v", q, hits)
		}
	}
}

// R101: a hit says which terms it has, the heaviest first, and what its scores are made of.
func TestWhy(t *testing.T) {
	t.Parallel()
	rows := search.NewMap()
	add(t, rows, "s", search.Doc{No: 1, Text: "cherry", Group: "g"}, search.Doc{No: 2, Text: "apple plum", Group: "g"}, search.Doc{No: 3, Text: "apple"}, search.Doc{No: 4, Text: "fig"})
	h := find(t, rows, "apple plum cherry", "s")[0]
	if h.No != 2 || len(h.Terms) != 2 || h.Terms[0].Term != "plum" || h.Terms[0].Score <= h.Terms[1].Score || h.Beside <= 0 || h.Group <= 0 {
		t.Errorf("found %+v", h)
	}
	if sum := h.Own + h.Beside + h.Group; !near(sum, h.Score) || !near(h.Terms[0].Score+h.Terms[1].Score, h.Own) || h.Coverage <= 0.5 || h.Coverage >= 1 {
		t.Errorf("the parts of %+v do not add up", h)
	}
}

// A flat keeps rows in one map, so that all of them can be seen.
type flat map[search.Key]string

func (f flat) Load(_ context.Context, keys []search.Key) (map[search.Key][]byte, error) {
	rows := map[search.Key][]byte{}
	for _, k := range keys {
		if row, ok := f[k]; ok {
			rows[k] = []byte(row)
		}
	}
	return rows, nil
}

func (f flat) Scan(_ context.Context, shelves, terms []string, each func(search.Key, []byte) error) error {
	for k, row := range f {
		if slices.Contains(shelves, k.Shelf) && slices.Contains(terms, k.Term) {
			if err := each(k, []byte(row)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f flat) Save(_ context.Context, rows map[search.Key][]byte) error {
	for k, row := range rows {
		if f[k] = string(row); len(row) == 0 {
			delete(f, k)
		}
	}
	return nil
}

// R113: after Remove no row has a byte of what only the removed text had: the rows are those of an index that never had it.
func TestRemoveLeavesNothing(t *testing.T) {
	t.Parallel()
	with, without := flat{}, flat{}
	canary := search.Doc{No: 2, Text: "Zed: canary-7731 said 丹雀 is the word apple", Group: "secret group", At: day, Expires: day.Add(time.Hour)}
	others := []search.Doc{{No: 1, Text: "apple", Group: "g"}, {No: 3, Text: "丹 apple", At: day}}
	add(t, with, "s", others[0], canary, others[1])
	add(t, without, "s", others...)
	if maps.Equal(with, without) {
		t.Fatal("the canary was never there")
	}
	for range 2 { // the second time it is gone already
		if err := search.Remove(t.Context(), with, "s", canary); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(with, without) || len(with) == 0 {
		t.Errorf("left: %v\nwant: %v", with, without)
	}
	for _, d := range others {
		if err := search.Remove(t.Context(), with, "s", d); err != nil {
			t.Fatal(err)
		}
	}
	if len(with) != 0 {
		t.Errorf("without documents: %v", with)
	}
}

// dump returns the rows of terms in the shelf s.
func dump(t *testing.T, rows search.Rows, terms ...string) map[search.Key]string {
	t.Helper()
	all := map[search.Key]string{}
	err := rows.Scan(t.Context(), []string{"s"}, terms, func(k search.Key, row []byte) error {
		all[k] = string(row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What is stored stays readable: these bytes are of version 1.
func TestFormat(t *testing.T) {
	t.Parallel()
	rows := flat{}
	add(t, rows, "s", search.Doc{No: 2, Text: "Ann: pear pear"}, search.Doc{No: 3, Text: "pear", Group: "g", Expires: time.UnixMicro(1)})
	if err := search.SaveVectors(t.Context(), rows, "s", "m", map[uint32][]float32{3: {0, 2}}); err != nil {
		t.Fatal(err)
	}
	want := map[search.Key]string{
		{Shelf: "s"}:                "\x01\x04\x00\x00\x00\x00\x00\x04\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x06\x26\x0c\xe2\x03\x00\x01\x00\x00\x00\x00\x00\x00\x00",
		{Shelf: "s", Term: "pear"}:  "\x01\x82\x00\xc1\x00",
		{Shelf: "s", Term: "ann"}:   "\x01\xa1\x00",
		{Shelf: "s", Term: "\x00m"}: "\x01\x02\x00\x03\x00\x00\x00\x00\x00\x00\x80\x3f",
	}
	for k, row := range want {
		if rows[k] != row {
			t.Errorf("row %+v is %q, want %q", k, rows[k], row)
		}
	}
	if len(rows) != len(want) {
		t.Errorf("rows %v", rows)
	}
}

// Damaged rows are ErrFormat, and none of them a panic.
func FuzzRows(f *testing.F) {
	f.Add([]byte(nil), []byte(nil), []byte(nil))
	f.Add([]byte("\x01\x04\x00\x00\x00\x00\x00\x04\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x06\x26\x0c\xe2\x03\x00\x01\x00\x00\x00\x00\x00\x00\x00"),
		[]byte("\x01\x82\x00\xc1\x00"), []byte("\x01\x02\x00\x03\x00\x00\x00\x00\x00\x00\x80\x3f"))
	f.Add([]byte("\x02"), []byte("\x01\x00"), []byte("\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, columns, postings, vectors []byte) {
		rows := search.NewMap()
		err := rows.Save(t.Context(), map[search.Key][]byte{{Shelf: "s"}: columns, {Shelf: "s", Term: "pear"}: postings, {Shelf: "s", Term: "\x00m"}: vectors})
		if err != nil {
			t.Fatal(err)
		}
		_, err1 := search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "pear", Now: day})
		_, err2 := search.Nearest(t.Context(), rows, []string{"s"}, "m", []float32{1, 2}, day, 3)
		err3 := search.Add(t.Context(), rows, "s", search.Doc{No: 9, Text: "pear"})
		err4 := search.Remove(t.Context(), rows, "s", search.Doc{No: 3, Text: "pear"})
		err5 := search.SaveVectors(t.Context(), rows, "s", "m", map[uint32][]float32{1: {1, 2}, 3: nil})
		for _, err := range []error{err1, err2, err3, err4, err5} {
			if err != nil && !errors.Is(err, search.ErrFormat) && !errors.Is(err, search.ErrDoc) && !errors.Is(err, search.ErrVector) {
				t.Error(err)
			}
		}
	})
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"\x02\x00\x00", "\x01", "\x01\xff\xff", "\x01\x01\x00\x00\x00", "\x01\x01\x00\x02\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		rows := search.NewMap()
		if err := rows.Save(t.Context(), map[search.Key][]byte{{Shelf: "s"}: []byte(bad)}); err != nil {
			t.Fatal(err)
		}
		if _, err := search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "pear"}); !errors.Is(err, search.ErrFormat) {
			t.Errorf("columns %q: %v", bad, err)
		}
	}
	for _, bad := range []string{"\x02\x82\x00", "\x01\x82", "\x01\x80\x00", "\x01\x82\x00\x82\x00"} {
		rows := search.NewMap()
		add(t, rows, "s", search.Doc{No: 2, Text: "pear"})
		if err := rows.Save(t.Context(), map[search.Key][]byte{{Shelf: "s", Term: "pear"}: []byte(bad)}); err != nil {
			t.Fatal(err)
		}
		if _, err := search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: "pear"}); !errors.Is(err, search.ErrFormat) {
			t.Errorf("postings %q: %v", bad, err)
		}
	}
}
