// Package knowledgetest is the suite that every store of documents passes.
//
// A new back end's test is one call:
//
//	func TestStore(t *testing.T) {
//		dir := t.TempDir()
//		knowledgetest.Run(t, func(t *testing.T, o knowledge.Options) *knowledge.Store {
//			s, err := mystore.Open(dir, o)
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// Each case prints why its rule exists when it fails. All stores are over one database, which need not be empty: cases use tenants of their
// own. [Work] and [Check] are for tests that kill a process.
package knowledgetest
