// Package storetest has files of empty stores, and makes stores fail on demand: a store that fails
// shows that nothing is acknowledged that is not stored.
package storetest

import (
	"sync"
	"sync/atomic"
)

// Fault fails the commits of a store that was opened with its BeforeCommit.
// The zero Fault lets all pass.
type Fault struct {
	err  atomic.Pointer[error]
	held atomic.Pointer[chan struct{}]
	// passing is how many commits pass although held is set.
	passing atomic.Int64
}

// HoldAfter lets some commits pass, and makes every later one wait until release is called.
func (f *Fault) HoldAfter(commits int64) (release func()) {
	held := make(chan struct{})
	f.passing.Store(commits)
	f.held.Store(&held)
	return sync.OnceFunc(func() {
		f.held.Store(nil)
		close(held)
	})
}

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
	if held := f.held.Load(); held != nil && f.passing.Add(-1) < 0 {
		<-*held
	}
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}
