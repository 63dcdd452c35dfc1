// Package storetest makes stores fail on demand, for tests: a store that fails
// shows that nothing is acknowledged that is not stored.
package storetest

import "sync/atomic"

// Fault fails the commits of a store that was opened with its BeforeCommit.
// The zero Fault lets all pass.
type Fault struct{ err atomic.Pointer[error] }

// Set makes every write fail with err from now on; nil lets them pass again.
func (f *Fault) Set(err error) {
	if err == nil {
		f.err.Store(nil)
		return
	}
	f.err.Store(&err)
}

// BeforeCommit returns the error that was set.
func (f *Fault) BeforeCommit() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}
