package crash

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Ledger is the outside world: lines of words that no crash of a victim takes back. It is a file opened for appending,
// and each line is one write: what kill -9 does not undo needs no fsync. Several processes may write to it.
type Ledger struct{ f *os.File }

// OpenLedger opens or creates a ledger.
func OpenLedger(path string) (*Ledger, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	return &Ledger{f}, err
}

// Note writes a line. A ledger that cannot be written ends the test: everything it would prove is gone.
func (l *Ledger) Note(words ...string) {
	if _, err := l.f.WriteString(strings.Join(words, "\t") + "\n"); err != nil {
		panic(err)
	}
}

// Lines reads all of it.
func (l *Ledger) Lines() [][]string {
	b, err := os.ReadFile(l.f.Name())
	if err != nil {
		panic(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		out = append(out, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return out
}

// Count is how many lines begin with these words.
func (l *Ledger) Count(words ...string) (n int) {
	for _, line := range l.Lines() {
		if len(line) >= len(words) && slices.Equal(line[:len(words)], words) {
			n++
		}
	}
	return n
}

// Close closes the file.
func (l *Ledger) Close() error { return l.f.Close() }

// Audit compares a ledger with that of a run that nobody disturbed. It returns what is wrong with it.
func Audit(got, want [][]string) (faults []string) {
	once := map[string]bool{} // keys of effects that have happened
	gone := map[string]bool{} // what was acknowledged must not begin again
	for _, line := range got {
		switch line[0] {
		case "effect":
			once[line[1]] = true
			if gone["once "+line[2]] {
				faults = append(faults, "effect "+line[2]+" happened again after its record was written")
			}
		case "recorded":
			gone["once "+line[1]] = true
		case "acked":
			gone["task "+line[1]] = true
		case "start":
			if gone["task "+line[1]] {
				faults = append(faults, "task "+line[1]+" ran again after its result was written")
			}
		}
	}
	keys := map[string]bool{}
	for _, line := range want {
		if line[0] != "effect" {
			continue
		}
		keys[line[1]] = true
		if !once[line[1]] {
			faults = append(faults, "effect "+line[2]+" never happened")
		}
	}
	for key := range once {
		if !keys[key] {
			faults = append(faults, fmt.Sprintf("an effect with key %s, which an undisturbed run does not have", key))
		}
	}
	slices.Sort(faults)
	return faults
}
