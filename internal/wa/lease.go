package wa

import (
	"errors"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// Lease is the right to run the account's session, where other processes may want to
// run it too. It is sought from the moment a session is there until its connection
// has ended for good; nothing is dialled without it.
type Lease interface {
	// Seek seeks the right for a session, keeps it, and calls changed, from any
	// goroutine, whenever Refusal has become another. The session's name is the same for
	// all of its copies and for no other one. release gives the right back; the session
	// is not connected any more then.
	Acquire(session string, changed func()) (release func())
	// Refusal returns nil while the session may run, [bridge.ErrLeaseSought] until that is
	// known, and else an error whose sentence says who runs it or what to do. It
	// looks at the clock, so that it reports an end in time even if renewals hang.
	Refusal() error
}

// seekLease seeks the right to run a link's session, and returns how to give it back.
func (m *Manager) seekLease(l *link, device *session.Device) (release func()) {
	if m.opts.Lease == nil {
		return func() {}
	}
	return m.opts.Lease.Acquire(device.Fingerprint(), func() { l.notify(notice{kind: noticeLease}) })
}

// refused returns why the session may not run now; nil if it may.
func (m *Manager) refused() error {
	if m.opts.Lease == nil {
		return nil
	}
	return m.opts.Lease.Refusal()
}

// leave leaves a stanza, and those behind it, to the process that may run the session now.
func (l *link) leave() bool {
	l.m.behind.Store(true)
	l.refusing.Store(true)
	l.cut()
	return false
}

// onLease does what the lease says now.
func (s *connection) onLease() {
	err := s.m.refused()
	switch {
	case s.phase == phaseEnding:
	case err != nil:
		s.yield(err)
	case s.phase == phaseYielding:
		s.tries, s.lostAt = 0, time.Now()
		s.lapse.Reset(patience)
		s.m.setState(bridge.StateConnecting, "")
		s.schedule(0)
	}
}

// yield closes the connection at once, and waits until the session may run.
func (s *connection) yield(why error) {
	s.l.cut()
	if errors.Is(why, bridge.ErrLeaseSought) {
		s.endDial()
	} else {
		s.halt(why.Error())
	}
	s.enter(phaseYielding, 0)
}
