package signal

import (
	"context"
	"sync"
	"time"
)

// leases prevent a phone from encrypting and decrypting at the same time. whatsmeow loads a Signal session, changes it and stores it
// without a lock: two operations that overlap use one message key twice, and a message is lost. So the lease is held from loading a session
// until it is stored, and during a whole decryption.
//
// Sends and decryptions carry their lease in the context. A call without one is whatsmeow answering a retry receipt on a separate
// goroutine.
type leases struct {
	lock chan struct{}
	// mu guards stray, the lease of the answers to retry receipts, which are handled one at a time.
	mu    sync.Mutex
	stray *lease
}

// lease is one holder's claim. It may be taken and released more than once.
type lease struct {
	of *leases
	// mu guards held and timer.
	mu    sync.Mutex
	held  bool
	timer *time.Timer
	// whole keeps the lease until the holder releases it at the end, across stored sessions.
	whole bool
}

type leaseKey struct{}

// strayLimit bounds how long an answer to a retry receipt holds the lease: one that fails between loading and storing never releases it.
const strayLimit = time.Second

func newLeases() *leases { return &leases{lock: make(chan struct{}, 1)} }

func leaseOf(ctx context.Context) *lease {
	l, _ := ctx.Value(leaseKey{}).(*lease)
	return l
}

// Hold takes the lease until release is called.
func (s *leases) Hold(ctx context.Context) (held context.Context, release func()) {
	if own := leaseOf(ctx); own != nil && own.whole {
		return ctx, func() {}
	}
	l := &lease{of: s, whole: true}
	l.take()
	return context.WithValue(ctx, leaseKey{}, l), l.giveBack
}

// ForSend prepares a context for one send, whose lease is taken when whatsmeow loads the sessions.
func (s *leases) ForSend(ctx context.Context) (sending context.Context, done func()) {
	l := &lease{of: s}
	return context.WithValue(ctx, leaseKey{}, l), l.giveBack
}

// load takes the lease before a session is read.
func (s *leases) load(ctx context.Context) {
	if l := leaseOf(ctx); l != nil {
		l.take()
		return
	}
	l := &lease{of: s}
	l.take()
	l.mu.Lock()
	l.timer = time.AfterFunc(strayLimit, l.giveBack)
	l.mu.Unlock()
	s.mu.Lock()
	s.stray = l
	s.mu.Unlock()
}

// stored releases the lease after a session was written.
func (s *leases) stored(ctx context.Context) {
	if l := leaseOf(ctx); l != nil {
		if !l.whole {
			l.giveBack()
		}
		return
	}
	s.mu.Lock()
	l := s.stray
	s.stray = nil
	s.mu.Unlock()
	if l != nil {
		l.giveBack()
	}
}

func (l *lease) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		l.of.lock <- struct{}{}
		l.held = true
	}
}

func (l *lease) giveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.held {
		l.held = false
		<-l.of.lock
	}
}
