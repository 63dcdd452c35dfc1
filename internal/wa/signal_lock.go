package wa

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"modernc.org/sqlite"
)

// signalGuard makes encryption and decryption take turns.
//
// whatsmeow loads a Signal session, changes it and stores it without a lock
// around: when one goroutine encrypts for a contact while another decrypts
// from him, one of the two changes is lost, a message key is used twice and
// the contact drops a message as "old counter". The guard stands between
// whatsmeow and its store and holds one lock
//
//   - over each decryption transaction,
//   - over each send, from the prefetch of its sessions to their storing
//     (the send brings a [sendTurn] in its context), and
//   - over each single encryption outside a send (answers to retry receipts,
//     requests to the phone), from loading the session to storing it.
type signalGuard struct {
	store.SessionStore
	store.EventBuffer
	lock chan struct{} // holds one token while nobody has the turn

	failed func(error) // told when the session store fails; the stanza is left unacknowledged

	leaseMu sync.Mutex
	lease   *lease // of a single encryption; guarded by leaseMu
}

// lease is the turn of a single encryption, which has no end that whatsmeow
// would tell when it fails halfway; so it ends by itself after leaseTime.
type lease struct{ timer *time.Timer }

// leaseTime is far beyond what lies between loading and storing a session: one
// encryption and no round trip.
const leaseTime = 2 * time.Second

type turnKey struct{}

// turn is what a context brings: whether its owner has the lock.
type turn struct {
	mu      sync.Mutex
	held    bool
	stored  bool        // the sessions of a send are stored: the message may leave
	tooLong *time.Timer // ends a send that keeps the lock; nil in a decryption
}

// turnTime bounds how long a send may hold up decryption: between the
// prefetch and the storing of its sessions it may have to ask the network for
// a recipient's keys.
const turnTime = 5 * time.Second

// errTurn is the cause of a send's end after turnTime: nothing has left yet.
var errTurn = errors.New("the network did not answer about the recipient's keys")

func newSignalGuard(sessions store.SessionStore, buffer store.EventBuffer, failed func(error)) *signalGuard {
	g := &signalGuard{SessionStore: sessions, EventBuffer: buffer, failed: failed, lock: make(chan struct{}, 1)}
	g.lock <- struct{}{}
	return g
}

func (g *signalGuard) acquire(ctx context.Context) error {
	select {
	case <-g.lock:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *signalGuard) release() { g.lock <- struct{}{} }

func turnOf(ctx context.Context) *turn {
	t, _ := ctx.Value(turnKey{}).(*turn)
	return t
}

// sendTurn prepares a context for one send and answers what ends its turn.
// The context is cancelled when the send keeps its turn for too long; its
// cause is errTurn then.
func (g *signalGuard) sendTurn(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &turn{tooLong: time.AfterFunc(turnTime, func() { cancel(errTurn) })}
	t.tooLong.Stop() // until the turn begins
	return context.WithValue(ctx, turnKey{}, t), func() {
		g.endTurn(t)
		cancel(nil)
	}
}

func (g *signalGuard) endTurn(t *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		t.held = false
		t.tooLong.Stop()
		g.release()
	}
}

func (t *turn) holds() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}

// DoDecryptionTxn takes the turn for one decryption. A failing session store
// must not look like an undecryptable message, which whatsmeow would
// acknowledge: as a cancelled context it leaves the message unacknowledged,
// and the network sends it again.
func (g *signalGuard) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	if err := g.acquire(ctx); err != nil {
		return err
	}
	defer g.release()
	inside := context.WithValue(ctx, turnKey{}, &turn{held: true})
	return g.unacknowledged(g.EventBuffer.DoDecryptionTxn(inside, fn))
}

// GetBufferedEvent treats a failing store as [signalGuard.DoDecryptionTxn] does.
func (g *signalGuard) GetBufferedEvent(ctx context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	event, err := g.EventBuffer.GetBufferedEvent(ctx, hash)
	return event, g.unacknowledged(err)
}

func (g *signalGuard) unacknowledged(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	g.failed(fmt.Errorf("the session store failed: %w", err))
	return fmt.Errorf("%w: %w", context.Canceled, err)
}

// GetManySessions begins a send's turn: whatsmeow's prefetch.
func (g *signalGuard) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	if t := turnOf(ctx); t != nil && !t.holds() {
		if err := g.acquire(ctx); err != nil {
			return nil, err
		}
		t.mu.Lock()
		t.held = true
		t.tooLong.Reset(turnTime)
		t.mu.Unlock()
	}
	return g.SessionStore.GetManySessions(ctx, addresses)
}

// PutManySessions ends a send's turn: its sessions are stored.
func (g *signalGuard) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	err := g.SessionStore.PutManySessions(ctx, sessions)
	if t := turnOf(ctx); t != nil {
		t.mu.Lock()
		t.stored = true
		t.mu.Unlock()
		g.endTurn(t)
	}
	return err
}

// mayHaveLeft says whether the send of a context came so far that its message
// may have left.
func mayHaveLeft(ctx context.Context) bool {
	t := turnOf(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stored
}

// GetSession begins a single encryption's lease, unless the caller has a turn.
func (g *signalGuard) GetSession(ctx context.Context, address string) ([]byte, error) {
	if !turnOf(ctx).holds() {
		if err := g.acquire(ctx); err != nil {
			return nil, err
		}
		g.beginLease()
	}
	return g.SessionStore.GetSession(ctx, address)
}

// PutSession ends a single encryption's lease.
func (g *signalGuard) PutSession(ctx context.Context, address string, session []byte) error {
	err := g.SessionStore.PutSession(ctx, address, session)
	if !turnOf(ctx).holds() {
		g.endLease(nil)
	}
	return err
}

// MigratePNToLID re-keys sessions, so it needs the turn as well.
func (g *signalGuard) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	if !turnOf(ctx).holds() {
		if err := g.acquire(ctx); err != nil {
			return err
		}
		defer g.release()
	}
	return g.SessionStore.MigratePNToLID(ctx, pn, lid)
}

func (g *signalGuard) beginLease() {
	g.leaseMu.Lock()
	defer g.leaseMu.Unlock()
	l := new(lease)
	l.timer = time.AfterFunc(leaseTime, func() { g.endLease(l) })
	g.lease = l
}

// endLease ends the lease l, or whichever there is.
func (g *signalGuard) endLease(l *lease) {
	g.leaseMu.Lock()
	defer g.leaseMu.Unlock()
	if g.lease == nil || (l != nil && g.lease != l) {
		return
	}
	g.lease.timer.Stop()
	g.lease = nil
	g.release()
}
