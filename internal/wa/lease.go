package wa

import (
	"errors"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// Lease is the right to run the account's session if other processes may want to run it, too. It
// is held from the moment that there is a session until its connection has ended for good.
// Without it no connection is dialled.
type Lease interface {
	// Acquire acquires the lease for a session, renews it, and calls changed, from any goroutine,
	// when the result of Refusal has changed. All copies of a session have the same name, and no
	// other session has it. release gives the lease back; it is called after the session's
	// connection has ended.
	Acquire(session string, changed func()) (release func())
	// Refusal returns nil while the session may run, [bridge.ErrLeaseSought] until that is known,
	// and otherwise an error that says who runs it or what to do. It checks the clock, so that it
	// reports an expired lease in time even if renewals hang.
	Refusal() error
}

// acquireLease acquires the lease for a link's session and returns the function that releases it.
func (m *Manager) acquireLease(l *link, device *session.Device) (release func()) {
	if m.opts.Lease == nil {
		return func() {}
	}
	return m.opts.Lease.Acquire(device.Fingerprint(), func() { l.notify(notice{kind: noticeLease}) })
}

// refused returns why the session may not run now, or nil.
func (m *Manager) refused() error {
	if m.opts.Lease == nil {
		return nil
	}
	return m.opts.Lease.Refusal()
}

// leave leaves a stanza, and the following ones, to the process that may run the session now.
func (l *link) leave() bool {
	l.m.storeLags.Store(true)
	l.refusing.Store(true)
	l.abort()
	return false
}

// onLease applies a change of the lease.
func (s *connection) onLease() {
	err := s.m.refused()
	switch {
	case s.phase == phaseEnding:
	case err != nil:
		s.yield(err)
	case s.phase == phaseYielding:
		s.tries, s.lostAt = 0, time.Now()
		s.lapse.Reset(connectingTimeout)
		s.m.setState(bridge.StateConnecting, "")
		s.schedule(0)
	}
}

// yield closes the connection at once and waits until the session may run.
func (s *connection) yield(why error) {
	s.l.abort()
	if errors.Is(why, bridge.ErrLeaseSought) {
		s.endDial()
	} else {
		s.halt(why.Error())
	}
	s.enter(phaseYielding, 0)
}
