// Package rowstest tests what the tables of an audit log promise: SQLite and Postgres share it.
package rowstest

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
)

// A Raw is who may write to the tables, and does so by SQL. Schema is put before their names: "" or "schema.".
type Raw struct {
	DB     *sql.DB
	Schema string
}

func (r Raw) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := r.DB.ExecContext(t.Context(), strings.ReplaceAll(text, "hfa_", r.Schema+"hfa_"), args...); err != nil {
		t.Fatal(err)
	}
}

// sum is the hash of an entry by the description of the chain, from the hash before.
func (r Raw) sum(t *testing.T, tenant string, n int64, before string) string {
	t.Helper()
	var usr, agent, box, verb, writes, conversation, items, more, result, at string
	row := r.DB.QueryRowContext(t.Context(), strings.ReplaceAll(`select cast(at as text), usr, agent, box, verb, case writes when 1 then 'true' else 'false' end,
		conversation, items, cast(more as text), result from hfa_entry where tenant = $1 and n = $2`, "hfa_", r.Schema+"hfa_"), tenant, n)
	if err := row.Scan(&at, &usr, &agent, &box, &verb, &writes, &conversation, &items, &more, &result); err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, c := range []string{
		"holdfast audit 1", before, tenant, fmt.Sprint(n), at, usr, agent, box, verb, writes, conversation, items, more, result,
	} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(c))))
		h.Write([]byte(c))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// rewrite makes the hashes from an entry on anew, and the head.
func (r Raw) rewrite(t *testing.T, tenant string, from, last int64) {
	t.Helper()
	var before string
	row := r.DB.QueryRowContext(t.Context(), strings.ReplaceAll(`select hash from hfa_entry where tenant = $1 and n = $2`, "hfa_", r.Schema+"hfa_"), tenant, from-1)
	if err := row.Scan(&before); err != nil {
		t.Fatal(err)
	}
	for n := from; n <= last; n++ {
		before = r.sum(t, tenant, n, before)
		r.exec(t, `update hfa_entry set hash = $1 where tenant = $2 and n = $3`, before, tenant, n)
	}
	r.exec(t, `update hfa_chain set n = $1, hash = $2 where tenant = $3`, last, before, tenant)
}

// Tamper changes chains of ten entries in every way that is known, and fails unless Verify finds each and says where. What only an anchor finds
// must not be found without.
func Tamper(t *testing.T, l *audit.Log, raw Raw) {
	const entries = 10
	for _, c := range []struct {
		name       string
		n          int64 // where it is found
		anchorOnly bool
		change     func(t *testing.T, tenant string)
	}{
		{"last row is deleted", 10, false, func(t *testing.T, tenant string) {
			raw.exec(t, `delete from hfa_entry where tenant = $1 and n = 10`, tenant)
		}},
		{"middle row is deleted", 5, false, func(t *testing.T, tenant string) {
			raw.exec(t, `delete from hfa_entry where tenant = $1 and n = 5`, tenant)
		}},
		{"first row is deleted", 1, false, func(t *testing.T, tenant string) {
			raw.exec(t, `delete from hfa_entry where tenant = $1 and n = 1`, tenant)
		}},
		{"two rows are swapped", 4, false, func(t *testing.T, tenant string) {
			for _, move := range [][2]int{{4, 99}, {5, 4}, {99, 5}} {
				raw.exec(t, `update hfa_entry set n = $1 where tenant = $2 and n = $3`, move[1], tenant, move[0])
			}
		}},
		{"a field is edited", 6, false, func(t *testing.T, tenant string) {
			raw.exec(t, `update hfa_entry set agent = 'somebody' where tenant = $1 and n = 6`, tenant)
		}},
		{"a row is added", 11, false, func(t *testing.T, tenant string) {
			raw.exec(t, `insert into hfa_entry select tenant, 11, at, usr, agent, box, verb, writes, conversation, items, more, result, hash
				from hfa_entry where tenant = $1 and n = 10`, tenant)
		}},
		{"a text moves to the next column", 6, false, func(t *testing.T, tenant string) {
			raw.exec(t, `update hfa_entry set agent = agent || box, box = '' where tenant = $1 and n = 6`, tenant)
		}},
		{"a user has another name", 1, false, func(t *testing.T, tenant string) {
			raw.exec(t, `update hfa_name set name = 'somebody' where tenant = $1`, tenant)
		}},
		{"a name is deleted", 1, false, func(t *testing.T, tenant string) {
			raw.exec(t, `delete from hfa_name where tenant = $1`, tenant)
		}},
		{"the tail is written anew", 8, true, func(t *testing.T, tenant string) {
			raw.exec(t, `update hfa_entry set agent = 'somebody' where tenant = $1 and n = 6`, tenant)
			raw.rewrite(t, tenant, 6, entries)
		}},
		{"the tail is cut off, and the head mended", 8, true, func(t *testing.T, tenant string) {
			raw.exec(t, `delete from hfa_entry where tenant = $1 and n > 7`, tenant)
			raw.rewrite(t, tenant, 6, 7)
		}},
		{"all is deleted", 1, true, func(t *testing.T, tenant string) {
			raw.exec(t, `delete from hfa_entry where tenant = $1`, tenant)
			raw.exec(t, `delete from hfa_chain where tenant = $1`, tenant)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tenant := audittest.Tenant()
			var anchor audit.Anchor
			for i := range entries {
				a := memory.Access{Tenant: tenant, User: "ann", Agent: "support", Box: "session", Verb: "State", Items: []string{fmt.Sprint(i)}, Result: "ok"}
				err := l.Record(t.Context(), a)
				if err == nil && i == 7 {
					anchor, err = l.Anchor(t.Context(), tenant)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if n, err := l.Verify(t.Context(), tenant, anchor); n != entries || err != nil {
				t.Fatal(n, err)
			}
			c.change(t, tenant)
			_, err := l.Verify(t.Context(), tenant)
			if found := err != nil; found == c.anchorOnly {
				t.Errorf("without the anchor: %v", err)
			}
			_, err = l.Verify(t.Context(), tenant, anchor)
			if x, ok := errors.AsType[*audit.TamperedError](err); !ok || x.Tenant != tenant || x.N != c.n {
				t.Errorf("%v, want entry %d", err, c.n)
			}
		})
	}
}
