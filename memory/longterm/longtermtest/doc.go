// Package longtermtest is the suite that every store of long-term memory passes.
//
// A new back end's test is two calls:
//
//	func TestStore(t *testing.T) {
//		longtermtest.Run(t, func(t *testing.T, o longterm.Options) *longterm.Store {
//			s, err := mystore.Open(t.TempDir(), o)
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
//	func TestFaults(t *testing.T) { longtermtest.Faults(t, newBackend) }
//
// Each case prints why its rule exists when it fails. Cases use scopes of their own, so open may return a store over a database
// that is not empty; jobs of other scopes may be worked off by a case, whose extractors find nothing in them. [Work] and
// [Check] are for tests that kill a process.
package longtermtest
