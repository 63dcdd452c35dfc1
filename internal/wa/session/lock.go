package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// signalLock lets only one encryption or decryption at a time change Signal sessions.
//
// whatsmeow loads a session, changes it and stores it without a lock. If an encryption for a
// contact and a decryption from the contact overlap, one change is lost, a message key is used
// twice, and the contact drops a message as "old counter". The lock is held
//
//   - during each decryption transaction,
//   - during each send, from loading to storing its sessions ([Client.HoldForSend]): 0.1 s for a
//     thousand devices,
//   - during each batch of sessions that is started before a send ([Client.StartSessions]),
//   - during each encryption outside a send (answers to retry receipts, requests to the phone).
type signalLock struct {
	free chan struct{} // has one element while the lock is free

	sending atomic.Pointer[hold] // the send that has loaded its sessions and waits for its answer

	mu     sync.Mutex
	single *singleHold // guarded by mu
}

// hold is one context's use of the lock. The fields from limit on are only used by sends.
type hold struct {
	mu      sync.Mutex
	held    bool
	limit   *time.Timer     // ends a send that holds the lock without progress; nil in a transaction
	stored  bool            // the sessions are stored: the message may be sent
	others  string          // the network's hash of the devices, if the message went to other devices
	without map[string]bool // addresses to leave out, because the network has no keys for them
	sendWrites
}

// singleHold is the hold of a single encryption. It ends after singleLimit, because whatsmeow
// does not report an encryption that fails halfway.
type singleHold struct{ limit *time.Timer }

const (
	// idleLimit limits how long a send without progress may block decryptions: whatsmeow asks for
	// the keys of newly linked devices while it holds the lock.
	idleLimit = 5 * time.Second
	// singleLimit is much longer than one encryption, which needs no round trip.
	singleLimit = 2 * time.Second
)

// ErrHeldTooLong ends a send that made no progress for idleLimit. Nothing was sent.
var ErrHeldTooLong = errors.New("the network did not answer about the recipient's keys")

func newSignalLock() *signalLock {
	l := &signalLock{free: make(chan struct{}, 1)}
	l.free <- struct{}{}
	return l
}

func (l *signalLock) acquire(ctx context.Context) error {
	select {
	case <-l.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *signalLock) release() { l.free <- struct{}{} }

type holdKey struct{}

// holdOf returns the hold that a context carries, or nil.
func holdOf(ctx context.Context) *hold {
	h, _ := ctx.Value(holdKey{}).(*hold)
	return h
}

// HoldForSend returns a context for one send, which may take the lock, and the function that ends
// its hold. Nothing is encrypted for the addresses in without. If the hold takes too long, the
// context is cancelled with [ErrHeldTooLong].
func (c *Client) HoldForSend(ctx context.Context, without map[string]bool) (holding context.Context, end func()) {
	return c.store.lock.forSend(ctx, without)
}

func (l *signalLock) forSend(ctx context.Context, without map[string]bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &hold{without: without}
	h.limit = time.AfterFunc(idleLimit, func() { cancel(ErrHeldTooLong) })
	h.limit.Stop() // until it holds the lock
	return context.WithValue(ctx, holdKey{}, h), func() {
		l.end(h)
		l.sending.CompareAndSwap(h, nil)
		cancel(nil)
	}
}

// start takes the lock for a send.
func (l *signalLock) start(ctx context.Context, h *hold) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = true
	h.limit.Reset(idleLimit)
	l.sending.Store(h) // whatsmeow sends one message at a time, until its answer
	return nil
}

// noteOthers records the network's hash of the devices for the message that is being sent, if it
// differs from ours.
func (l *signalLock) noteOthers(hash string) {
	h := l.sending.Load()
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.others = hash
}

// Outcome is the result of a send.
type Outcome struct {
	MayHaveLeft  bool
	OtherDevices string            // the network's hash of the devices; empty if it is the same as ours
	reached      map[string][]byte // by address
}

// OutcomeOf returns the result so far of the send of a context.
func OutcomeOf(ctx context.Context) Outcome {
	h := holdOf(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	return Outcome{h.stored, h.others, h.reached}
}

// EncryptedFor reports whether the message was encrypted for a person's phone.
func (o Outcome) EncryptedFor(person types.JID) bool {
	return o.reached[person.SignalAddress().String()] != nil
}

// end releases the lock of a send.
func (l *signalLock) end(h *hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.held = false
		h.limit.Stop()
		l.release()
	}
}

// holds reports whether h holds the lock. It returns false for nil.
func (h *hold) holds() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// setStored records the stored sessions of a send.
func (h *hold) setStored(sessions map[string][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stored, h.reached = true, sessions
}

// ofSend reports whether h is the hold of a send, and not of a transaction.
func (h *hold) ofSend() bool { return h != nil && h.limit != nil }

// progressed restarts the limit of a send.
func (h *hold) progressed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.limit.Reset(idleLimit)
	}
}

// startSingle takes the lock for a single encryption.
func (l *signalLock) startSingle(ctx context.Context) error {
	if err := l.acquire(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h := new(singleHold)
	h.limit = time.AfterFunc(singleLimit, func() { l.endSingle(h) })
	l.single = h
	return nil
}

// endSingle releases the lock of h; nil means the current single encryption.
func (l *signalLock) endSingle(h *singleHold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.single == nil || (h != nil && l.single != h) {
		return
	}
	l.single.limit.Stop()
	l.single = nil
	l.release()
}
