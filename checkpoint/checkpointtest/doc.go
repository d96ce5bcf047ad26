// Package checkpointtest is the suite that every checkpoint.Store passes, and a benchmark that all of them share.
//
// A new store's test is one call:
//
//	func TestStore(t *testing.T) {
//		checkpointtest.Run(t, func(t *testing.T) checkpoint.Store {
//			s, err := mystore.Open(t.TempDir())
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// Each case prints why its rule exists when it fails. Cases use tenants of their own, so open may return a store over a
// database that is not empty. With -short the large and the many are smaller.
package checkpointtest
