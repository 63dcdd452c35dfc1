package session

import (
	"context"
	"errors"
	"strings"
	"sync"

	"go.mau.fi/whatsmeow/types"
)

// A send to many devices encrypts for longer than anybody who writes meanwhile
// should wait: 0.1 s for a thousand. It touches no session between loading and
// storing all of them, so it holds the Signal lock for these two alone. Where a
// session of somebody that it goes to has changed in between, what it has
// encrypted is void: nothing of it is stored, nothing leaves, and it encrypts
// again, holding the lock this time.

// fewSessions are encrypted for so fast that the lock is held.
const fewSessions = 32

// ErrOvertaken ends a send, before anything of it is stored, of which a session
// was changed by somebody else.
var ErrOvertaken = errors.New("a session has changed while the message was encrypted")

// unlockedSend is the send that encrypts for many devices without the lock; whatsmeow
// encrypts one message at a time.
type unlockedSend struct {
	mu        sync.Mutex // guards what follows
	of        *hold
	users     map[string]bool // of its sessions
	overtaken bool
}

// begin notes whose sessions a send is about to load.
func (o *unlockedSend) begin(h *hold, addresses []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of, o.users, o.overtaken = h, make(map[string]bool, len(addresses)), false
	for _, address := range addresses {
		o.users[sessionUser(address)] = true
	}
}

// end forgets a send, and reports whether it was overtaken.
func (o *unlockedSend) end(h *hold) (overtaken bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of != h {
		return true
	}
	o.of, o.users = nil, nil
	return o.overtaken
}

// changed notes that sessions with users change.
func (o *unlockedSend) changed(users ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, user := range users {
		o.overtaken = o.overtaken || o.users[user]
	}
}

// sessionUser returns the user of a Signal address, which is that and a device.
func sessionUser(address string) string {
	user, _, _ := strings.Cut(address, ":")
	return user
}

// lend gives back the lock while a send encrypts.
func (l *signalLock) lend(h *hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held, h.open = false, true
	h.limit.Stop()
	l.release()
}

// takeBack takes the lock again where a send has given it back. The error is
// ErrOvertaken where one of its sessions has changed.
func (l *signalLock) takeBack(ctx context.Context, h *hold) error {
	h.mu.Lock()
	open := h.open
	h.mu.Unlock()
	if !open {
		return nil
	}
	if err := l.begin(ctx, h); err != nil {
		return err
	}
	if l.unlocked.end(h) {
		return ErrOvertaken
	}
	return nil
}

// DeleteSession deletes a session.
func (s *lockedStore) DeleteSession(ctx context.Context, address string) error {
	s.lock.unlocked.changed(sessionUser(address))
	return s.SessionStore.DeleteSession(ctx, address)
}

// DeleteAllSessions deletes the sessions with a user.
func (s *lockedStore) DeleteAllSessions(ctx context.Context, user string) error {
	s.lock.unlocked.changed(user)
	return s.SessionStore.DeleteAllSessions(ctx, user)
}

// MigratePNToLID holds the lock, because it re-keys sessions. Those of a number
// are moved once while the program runs, as whatsmeow's store does.
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
	s.lock.unlocked.changed(pn.SignalAddressUser(), lid.SignalAddressUser())
	err := s.SessionStore.MigratePNToLID(ctx, pn, lid)
	if err == nil {
		s.moved.Store(pn.SignalAddressUser(), true)
	}
	return err
}
