package nodes

import "errors"

type fatalError struct{ error }

func (e *fatalError) Unwrap() error { return e.error }

// Fatal makes an error of a tool one that fails the run, instead of a result that the model reads. The run can be resumed:
// the call runs again, under the same key. Nothing is not fatal.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return &fatalError{err}
}

func isFatal(err error) bool {
	_, ok := errors.AsType[*fatalError](err)
	return ok
}
