package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// signalLock lets one encryption or decryption at a time change Signal
// sessions.
//
// whatsmeow loads a session, changes it and stores it without a lock: of an encryption
// for a contact and a decryption from them at the same time, one change is lost, a
// message key is used twice, and the contact drops a message as "old counter". The lock
// is held
//
//   - over each decryption transaction,
//   - over each send, from loading to storing its sessions ([Client.HoldForSend]): 0.1 s
//     for a thousand devices,
//   - over each batch of sessions begun for a send beforehand ([Client.BeginSessions]),
//   - over each encryption outside a send (answers to retry receipts, requests to the
//     phone).
type signalLock struct {
	free chan struct{} // has one token while the lock is free

	sending atomic.Pointer[hold] // the send that has loaded its sessions and waits for its answer

	mu     sync.Mutex
	single *singleHold // guarded by mu
}

// hold is one context's hold of the lock. The fields below limit are those of a
// send.
type hold struct {
	mu      sync.Mutex
	held    bool
	limit   *time.Timer     // ends a send that holds the lock and does nothing; nil in a transaction
	stored  bool            // its sessions are stored: the message may leave
	others  string          // the hash of the devices that the network names, where the message went to others
	without map[string]bool // addresses that it is not encrypted for: the network has no keys of them
	sendWrites
}

// singleHold is the hold of a single encryption. It ends after singleLimit, as
// whatsmeow does not report one that fails halfway.
type singleHold struct{ limit *time.Timer }

const (
	// idleLimit bounds how long a send may hold up decryptions without progress: whatsmeow
	// asks for the keys of a device that has appeared meanwhile under the lock.
	idleLimit = 5 * time.Second
	// singleLimit is far beyond one encryption, which needs no round trip.
	singleLimit = 2 * time.Second
)

// ErrHeldTooLong ends a send that made no progress for idleLimit; nothing has left.
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

// HoldForSend returns a context for one send, which may take the lock, and the function
// that ends its hold. Nothing is encrypted for the addresses in without. [ErrHeldTooLong]
// cancels the context.
func (c *Client) HoldForSend(ctx context.Context, without map[string]bool) (holding context.Context, end func()) {
	return c.store.lock.forSend(ctx, without)
}

func (l *signalLock) forSend(ctx context.Context, without map[string]bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &hold{without: without}
	h.limit = time.AfterFunc(idleLimit, func() { cancel(ErrHeldTooLong) })
	h.limit.Stop() // until it holds
	return context.WithValue(ctx, holdKey{}, h), func() {
		l.end(h)
		l.sending.CompareAndSwap(h, nil)
		cancel(nil)
	}
}

// begin takes the lock for a send.
func (l *signalLock) begin(ctx context.Context, h *hold) error {
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

// noteOthers notes the hash of other devices that the network has named for the message
// that is being sent.
func (l *signalLock) noteOthers(hash string) {
	h := l.sending.Load()
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.others = hash
}

// Outcome says what became of the message of a send's context.
type Outcome struct {
	MayHaveLeft  bool
	OtherDevices string            // the hash of the devices that the network named; empty where it went to these
	reached      map[string][]byte // by address
}

// OutcomeOf returns what has become of a send by now.
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

// end gives back what a send holds.
func (l *signalLock) end(h *hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.held = false
		h.limit.Stop()
		l.release()
	}
}

// holds reports whether h holds the lock; a nil h does not.
func (h *hold) holds() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// setStored notes the sessions of a send that are stored.
func (h *hold) setStored(sessions map[string][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stored, h.reached = true, sessions
}

// ofSend reports whether h is the hold of a send, not that of a transaction.
func (h *hold) ofSend() bool { return h != nil && h.limit != nil }

// progressed notes that the send does something.
func (h *hold) progressed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.limit.Reset(idleLimit)
	}
}

// beginSingle takes the lock for a single encryption.
func (l *signalLock) beginSingle(ctx context.Context) error {
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

// endSingle gives back what h holds; a nil h stands for the present single encryption.
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
