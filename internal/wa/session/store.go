package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"modernc.org/sqlite"
)

// lockedStore takes and releases the Signal lock when whatsmeow calls its store: GetManySessions
// and PutManySessions around the encryptions of a send, DoDecryptionTxn around a decryption,
// GetSession and PutSession around any other encryption. Other writes of a send are stored
// together with its sessions (see [sendWrites]).
type lockedStore struct {
	signalStores
	lock    *signalLock
	moved   sync.Map // the users (string) whose sessions were moved from a number to a LID
	cleared clearedContent
	durable time.Time // the time of the last durable transaction; guarded by lock
	log     zerolog.Logger
	failed  func(error) // called when the store fails; the stanza stays unacknowledged
	// isOver reports whether the connection of a context has been replaced by another; nil in
	// tests.
	isOver func(ctx context.Context) bool
	// known returns the stored identities of addresses, which whatsmeow would read one by one;
	// nil in tests.
	known func(ctx context.Context, addresses []string) (map[string][32]byte, error)
}

// signalStores are the stores that a lockedStore wraps.
type signalStores struct {
	store.SessionStore
	store.EventBuffer
	store.IdentityStore
	store.SenderKeyStore
	store.MsgSecretStore
}

// newLockedStore wraps the stores of a device. It calls failed for errors that leave a stanza
// unacknowledged, and logs errors of work that can be repeated.
func newLockedStore(stores signalStores, failed func(error), log zerolog.Logger) *lockedStore {
	s := &lockedStore{signalStores: stores, lock: newSignalLock(), failed: failed, log: log}
	s.cleared.timer = time.AfterFunc(clearPause, func() {
		if s.cleared.isWaiting() { // no decryption has cleared it
			s.flush()
		}
	})
	s.cleared.timer.Stop() // until something is waiting
	return s
}

// DoDecryptionTxn holds the lock during one decryption. It turns an error of the store into a
// cancelled context, because whatsmeow then leaves the message unacknowledged; with other errors
// it would acknowledge it as undecryptable. It turns a reused key into an undecryptable message,
// because whatsmeow would drop the message.
//
// A handler may still run when the next connection has started and receives its stanza again
// (client.go, handlerQueueLoop). The transaction then gives the old handler up, so that no
// message is decrypted twice.
func (s *lockedStore) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	err := s.unacknowledged(s.transact(lagging(ctx), func(txn context.Context) error {
		if s.isOver != nil && s.isOver(ctx) {
			return fmt.Errorf("%w: the network sends the message again", context.Canceled)
		}
		return fn(txn)
	}))
	if errors.Is(err, signalerror.ErrOldCounter) {
		return fmt.Errorf("its key was used before: %v", err) // no longer an ErrOldCounter
	}
	return err
}

// transact holds the lock during one transaction, which also clears the waiting content (see
// [clearedContent]). fn may be nil.
func (s *lockedStore) transact(ctx context.Context, fn func(context.Context) error) error {
	if err := s.lock.acquire(ctx); err != nil {
		return err
	}
	defer s.lock.release()
	hashes := s.cleared.take()
	if fn == nil && len(hashes) == 0 {
		return nil
	}
	if isLagging(ctx) && time.Since(s.durable) >= lagLimit {
		ctx = durable(ctx)
	}
	err := s.EventBuffer.DoDecryptionTxn(context.WithValue(ctx, holdKey{}, &hold{held: true}), func(ctx context.Context) error {
		if fn != nil {
			if err := fn(ctx); err != nil {
				return err
			}
		}
		for _, hash := range hashes {
			if err := s.EventBuffer.ClearBufferedEventPlaintext(ctx, hash); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		s.cleared.restore(hashes)
	case !isLagging(ctx):
		s.durable = time.Now()
	}
	return err
}

// GetBufferedEvent handles errors like [lockedStore.DoDecryptionTxn].
func (s *lockedStore) GetBufferedEvent(ctx context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	event, err := s.EventBuffer.GetBufferedEvent(ctx, hash)
	return event, s.unacknowledged(err)
}

func (s *lockedStore) unacknowledged(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	s.failed(fmt.Errorf("the session database failed: %w", err))
	return fmt.Errorf("%w: %w", context.Canceled, err)
}

// GetManySessions starts a send's hold. whatsmeow loads all sessions of a send at once. It asks
// the network for keys if a session is nil, and leaves out addresses that are not in the result.
func (s *lockedStore) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	h := holdOf(ctx)
	if h != nil && !h.holds() {
		if err := s.lock.start(ctx, h); err != nil {
			return nil, err
		}
		if s.known != nil {
			identities, err := s.known(ctx, addresses)
			if err != nil {
				return nil, err
			}
			h.mu.Lock()
			h.known = identities
			h.mu.Unlock()
		}
	}
	sessions, err := s.SessionStore.GetManySessions(ctx, addresses)
	if h.ofSend() {
		maps.DeleteFunc(sessions, func(address string, session []byte) bool { return session == nil && h.without[address] })
	}
	return sessions, err
}

// PutManySessions stores a send's sessions with its collected writes, and ends its hold.
func (s *lockedStore) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	h := holdOf(ctx)
	if !h.ofSend() {
		return s.SessionStore.PutManySessions(ctx, sessions)
	}
	defer s.lock.end(h)
	err := s.storeSend(ctx, h.takeWrites(), sessions)
	if err == nil {
		h.setStored(sessions)
	}
	return err
}

// PutIdentity holds a changed identity of a send's recipient until its session is stored.
func (s *lockedStore) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	h := holdOf(ctx)
	if !h.ofSend() {
		return s.IdentityStore.PutIdentity(ctx, address, key)
	}
	h.progressed()
	h.setIdentity(address, key)
	return ctx.Err()
}

// IsTrustedIdentity also knows the identities that PutIdentity holds and that GetManySessions has
// read.
func (s *lockedStore) IsTrustedIdentity(ctx context.Context, address string, key [32]byte) (bool, error) {
	if h := holdOf(ctx); h.ofSend() {
		h.progressed()
		if kept, ok := h.identity(address); ok {
			return kept == key, nil
		}
	}
	return s.IdentityStore.IsTrustedIdentity(ctx, address, key)
}

// DeleteIdentity also discards a held identity.
func (s *lockedStore) DeleteIdentity(ctx context.Context, address string) error {
	if h := holdOf(ctx); h.ofSend() {
		h.mu.Lock()
		delete(h.changed, address)
		delete(h.known, address)
		h.mu.Unlock()
	}
	return s.IdentityStore.DeleteIdentity(ctx, address)
}

// GetSession starts the hold of a single encryption, unless the context already holds the lock.
func (s *lockedStore) GetSession(ctx context.Context, address string) ([]byte, error) {
	if !holdOf(ctx).holds() {
		if err := s.lock.startSingle(ctx); err != nil {
			return nil, err
		}
	}
	return s.SessionStore.GetSession(ctx, address)
}

// PutSession ends the hold of a single encryption.
func (s *lockedStore) PutSession(ctx context.Context, address string, session []byte) error {
	err := s.SessionStore.PutSession(ctx, address, session)
	if !holdOf(ctx).holds() {
		s.lock.endSingle(nil)
	}
	return err
}

// MigratePNToLID holds the lock, because it changes the keys of sessions. Like whatsmeow's store,
// it moves the sessions of a number only once in the life of the process.
func (s *lockedStore) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	if _, moved := s.moved.Load(pn.SignalAddressUser()); moved {
		return nil
	}
	if !holdOf(ctx).holds() {
		if err := s.lock.acquire(ctx); err != nil {
			return err
		}
		defer s.lock.release()
	}
	err := s.SessionStore.MigratePNToLID(ctx, pn, lid)
	if err == nil {
		s.moved.Store(pn.SignalAddressUser(), true)
	}
	return err
}
