package wa

import (
	"errors"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// Lease is the right to run the account's session, for which other processes can compete. The manager acquires it when
// there is a session, and releases it when the session's connection has ended for good. It dials only while it holds
// the lease.
type Lease interface {
	// Acquire starts to acquire and renew the lease for a session. It calls changed, from any goroutine, when the
	// result of Refusal has changed. session is a name that all copies of a session share, and no other session has.
	// The manager calls release after the session's connection has ended.
	Acquire(session string, changed func()) (release func())
	// Refusal returns nil while the lease is held, [bridge.ErrLeaseUnknown] until that is known, and otherwise an
	// error that says which process holds it or what to do. It checks the clock, so that it reports an expired lease
	// in time even if renewals hang.
	Refusal() error
}

// acquireLease acquires the lease for a link's session and returns the function that releases it.
func (m *Manager) acquireLease(l *link, device *session.Device) (release func()) {
	if m.opts.Lease == nil {
		return func() {}
	}
	return m.opts.Lease.Acquire(device.Fingerprint(), func() { l.notify(notice{kind: noticeLease}) })
}

// leaseRefusal returns why the session may not run now, or nil.
func (m *Manager) leaseRefusal() error {
	if m.opts.Lease == nil {
		return nil
	}
	return m.opts.Lease.Refusal()
}

// leaveUnacknowledged closes the connection without acknowledging the current stanza, because another process holds the
// lease. The network sends that process this stanza and the following ones again.
func (l *link) leaveUnacknowledged() bool {
	l.m.storeLags.Store(true)
	l.refusing.Store(true)
	l.abort()
	return false
}

// onLease yields if the lease was lost, and dials if it was acquired again.
func (s *connection) onLease() {
	err := s.m.leaseRefusal()
	switch {
	case s.phase == phaseEnding:
	case err != nil:
		s.yield(err)
	case s.phase == phaseYielding:
		s.tries, s.lostAt = 0, time.Now()
		s.connecting.Reset(connectingTimeout)
		s.m.setState(bridge.StateConnecting, "")
		s.schedule(0)
	}
}

// yield closes the connection at once. The connection is dialled again when the lease is acquired.
func (s *connection) yield(why error) {
	s.l.abort()
	if errors.Is(why, bridge.ErrLeaseUnknown) {
		s.endDial()
	} else {
		s.halt(why.Error())
	}
	s.enter(phaseYielding, 0)
}
