// Package storetest makes stores fail on demand, for tests: a store that fails
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
}

// Hold makes every commit wait until release is called.
func (f *Fault) Hold() (release func()) {
	held := make(chan struct{})
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
	if held := f.held.Load(); held != nil {
		<-*held
	}
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}
