// Package sessiontest is the suite that every store of conversations passes.
//
// A new back end's test is one call:
//
//	func TestStore(t *testing.T) {
//		sessiontest.Run(t, func(t *testing.T, o session.Options) *session.Store {
//			s, err := mystore.Open(t.TempDir(), o)
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// Each case prints why its rule exists when it fails. Cases use scopes of their own, so open may return a store over a database
// that is not empty. [Work] and [Check] are for tests that kill a process.
package sessiontest
