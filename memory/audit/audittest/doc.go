// Package audittest is the suite that every back end of an audit log must pass.
//
//	func TestLog(t *testing.T) {
//		audittest.Run(t, func(t *testing.T) *audit.Log { return open(t) })
//	}
package audittest
