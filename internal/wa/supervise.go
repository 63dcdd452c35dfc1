package wa

import (
	"context"
	"math/rand/v2"
	"time"

	"bridged/internal/bridge"
)

const (
	// dialLimit is longer than the limits of a dial plus whatsmeow's 20 s for the handshake.
	dialLimit = dialTimeout + tlsTimeout + answerHeaderTimeout + 25*time.Second
	// shortOutage is how long the pauses between attempts stay short.
	shortOutage = 5 * time.Minute
	shortPause  = 8 * time.Second
	longPause   = 30 * time.Second
	// refusedPause is the pause after a refusal of the network.
	refusedPause = time.Hour
)

// supervise alternates between pairing and running a session. Each has its own link.
func (m *Manager) supervise(ctx context.Context) error {
	for ctx.Err() == nil {
		device, err := m.db.Device(ctx)
		if ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
		m.setUser(device.User())
		if !device.IsLinked() {
			m.runPairing(ctx, device)
		} else {
			m.runConnected(ctx, device)
		}
	}
	return nil
}

// supervised decides about a link: a [connection] or a [pairing]. Its methods are called in one
// goroutine. They return true when the link is not needed any more.
type supervised interface {
	onTimer() (over bool)
	onDialled(err error)
	onNotice(n notice) (over bool)
	onCommand(c command) (over bool)
	onCheck() // every storageCheck
	onLapse() // after connectingTimeout
}

// supervisor dials one link and reports its events. Only run's goroutine uses its fields.
type supervisor struct {
	m          *Manager
	l          *link
	phase      phase
	tries      int // consecutive failed dials
	dial       int // the number of the current dial
	dialled    chan dialResult
	timer      *time.Timer // the next dial, or the end of the current phase
	connecting *time.Timer // when it fires, the state connecting becomes closed
}

// phase is the current work on a link.
type phase int

const (
	phaseWaiting  phase = iota // for the next dial
	phaseDialling              // until the socket is open
	phaseLogin                 // until the network has let the session in
	phaseOpen                  // the session is logged in
	phaseHalted                // until a person asks for another attempt
	phaseEnding                // until the keys of an ended session are wiped
	phaseOffering              // until one of the codes is used
	phaseYielding              // until this process may run the session
)

// dialResult has the number of its dial, because it may be received after the next dial has
// started.
type dialResult struct {
	dial int
	err  error
}

// newSupervisor returns a supervisor that dials at once.
func newSupervisor(m *Manager, l *link) supervisor {
	return supervisor{
		m: m, l: l, dialled: make(chan dialResult, 16),
		timer: time.NewTimer(0), connecting: time.NewTimer(connectingTimeout),
	}
}

// run works until ctx ends or the link is not needed any more, and then ends the link.
func (s *supervisor) run(ctx context.Context, of supervised) {
	defer s.l.end()
	defer s.timer.Stop()
	defer s.connecting.Stop()
	check := time.NewTicker(storageCheck)
	defer check.Stop()
	for over := false; !over; {
		select {
		case <-ctx.Done():
			s.endDial()
			return
		case <-s.timer.C:
			over = of.onTimer()
		case <-s.connecting.C:
			of.onLapse()
		case <-check.C:
			of.onCheck()
		case result := <-s.dialled:
			if result.dial == s.dial {
				of.onDialled(result.err)
			}
		case n := <-s.l.notices:
			over = of.onNotice(n)
		case c := <-s.m.commands:
			over = of.onCommand(c)
		}
	}
}

// enter starts a phase. Its timer fires after limit; 0 means never.
func (s *supervisor) enter(p phase, limit time.Duration) {
	s.phase = p
	s.timer.Stop()
	if limit > 0 {
		s.timer.Reset(limit)
	}
}

// schedule schedules the next dial.
func (s *supervisor) schedule(after time.Duration) {
	s.phase = phaseWaiting
	s.timer.Reset(after)
}

// connect starts a dial, which ends after limit at the latest, or with the timer.
func (s *supervisor) connect(limit time.Duration) {
	s.enter(phaseDialling, limit)
	s.dial++
	number := s.dial
	go func() { s.dialled <- dialResult{number, s.l.connect()} }()
}

// endDial abandons a running dial, which holds whatsmeow's lock.
func (s *supervisor) endDial() {
	if s.phase == phaseDialling {
		s.l.abort()
	}
}

// pause returns how long to wait before attempt n of an outage: first 0, then from one second,
// doubling, up to 8 s in the first minutes and 30 s later. It varies by a fifth, so that many
// clients do not reconnect at the same moment.
func pause(n int, outage time.Duration) time.Duration {
	if n == 0 {
		return 0
	}
	longest := shortPause
	if outage > shortOutage {
		longest = longPause
	}
	wait := min(longest, time.Second<<min(n-1, 10))
	return wait - time.Duration(rand.Int64N(int64(wait)/5))
}

// command is a request to the supervisor.
type command struct {
	kind commandKind
	ctx  context.Context
	done chan commandResult
}

type commandKind int

const (
	commandLogout commandKind = iota
	commandReconnect
	commandRenewPairing
)

type commandResult struct {
	unlinked bool
	err      error
}

// ask sends a command to the supervisor and waits for the result.
func (m *Manager) ask(ctx context.Context, kind commandKind) (commandResult, error) {
	c := command{kind: kind, ctx: ctx, done: make(chan commandResult, 1)}
	select {
	case m.commands <- c:
	case <-ctx.Done():
		return commandResult{}, ctx.Err()
	case <-m.background.Done():
		return commandResult{}, bridge.NotConnected("bridged is shutting down")
	}
	select {
	case result := <-c.done:
		return result, result.err
	case <-ctx.Done():
		return commandResult{}, ctx.Err()
	}
}

// Logout unlinks the device at the network if the connection is open, and always wipes the
// session. Without a session it ends a pairing that waits for a passkey.
func (m *Manager) Logout(ctx context.Context) (unlinked bool, err error) {
	if m.Status().User == nil {
		if _, passkey, _ := m.passkeyPairing(); passkey == nil {
			return false, nil
		}
		_, err = m.ask(ctx, commandRenewPairing)
		return false, err
	}
	result, err := m.ask(ctx, commandLogout)
	return result.unlinked, err
}

// Reconnect tries to connect now, even if the account was replaced by another client. Without a
// session it fails with [bridge.CodeNoSession].
func (m *Manager) Reconnect(ctx context.Context) error {
	if m.Status().User == nil {
		return bridge.Fail(bridge.CodeNoSession, "there is no session to reconnect: pair the account first")
	}
	_, err := m.ask(ctx, commandReconnect)
	return err
}
