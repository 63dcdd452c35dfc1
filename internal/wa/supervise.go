package wa

import (
	"context"
	"math/rand/v2"
	"time"

	"bridged/internal/bridge"
)

const (
	// dialLimit exceeds a dial's own limits and whatsmeow's 20 s for the handshake.
	dialLimit = dialTimeout + tlsTimeout + answerHeaderTimeout + 25*time.Second
	// shortOutage is how long the pauses between tries stay short.
	shortOutage = 5 * time.Minute
	shortPause  = 8 * time.Second
	longPause   = 30 * time.Second
	// refusedPause is how long the network's refusals are left alone.
	refusedPause = time.Hour
)

// supervise alternates between pairing and running a session, each with its own link.
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

// supervised decides over a link: a [connection] or a [pairing]. One goroutine calls the
// methods, whose result is true when the link has served its purpose.
type supervised interface {
	onTimer() (over bool)
	onDialled(err error)
	onNotice(n notice) (over bool)
	onCommand(c command) (over bool)
	onCheck() // every storageCheck
	onLapse() // the end of patience
}

// supervisor dials one link and reports what happens to it. Its fields belong to the
// goroutine of run.
type supervisor struct {
	m       *Manager
	l       *link
	phase   phase
	tries   int // dials that have failed in a row
	dial    int // the number of the present dial
	dialled chan dialResult
	timer   *time.Timer // the next dial, or the end of the present phase
	lapse   *time.Timer // when connecting becomes closed
}

// phase says what is done with a link now.
type phase int

const (
	phaseWaiting  phase = iota // for the next dial
	phaseDialling              // until the socket is up
	phaseLogin                 // until the network has let the session in
	phaseOpen                  // the session is logged in
	phaseHalted                // until a person asks for another try
	phaseEnding                // until the keys of an ended session are wiped
	phaseOffering              // until one of the codes is used
	phaseYielding              // until this process may run the session
)

// dialResult names its dial, which may end after the next has begun.
type dialResult struct {
	dial int
	err  error
}

// newSupervisor returns a supervisor that dials at once.
func newSupervisor(m *Manager, l *link) supervisor {
	return supervisor{
		m: m, l: l, dialled: make(chan dialResult, 16),
		timer: time.NewTimer(0), lapse: time.NewTimer(patience),
	}
}

// run serves until ctx ends or the link has served its purpose, and ends the link.
func (s *supervisor) run(ctx context.Context, of supervised) {
	defer s.l.end()
	defer s.timer.Stop()
	defer s.lapse.Stop()
	check := time.NewTicker(storageCheck)
	defer check.Stop()
	for over := false; !over; {
		select {
		case <-ctx.Done():
			s.endDial()
			return
		case <-s.timer.C:
			over = of.onTimer()
		case <-s.lapse.C:
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

// enter begins a phase whose timer goes off after limit; 0 is never.
func (s *supervisor) enter(p phase, limit time.Duration) {
	s.phase = p
	s.timer.Stop()
	if limit > 0 {
		s.timer.Reset(limit)
	}
}

// schedule plans the next dial.
func (s *supervisor) schedule(after time.Duration) {
	s.phase = phaseWaiting
	s.timer.Reset(after)
}

// connect begins a dial, which ends within limit or with the timer.
func (s *supervisor) connect(limit time.Duration) {
	s.enter(phaseDialling, limit)
	s.dial++
	number := s.dial
	go func() { s.dialled <- dialResult{number, s.l.connect()} }()
}

// endDial gives up a dial under way, which holds whatsmeow's lock.
func (s *supervisor) endDial() {
	if s.phase == phaseDialling {
		s.l.cut()
	}
}

// pause returns how long to wait before try n of an outage: at once, then
// doubling from a second, at most 8 s in the first minutes and 30 s later,
// spread by a fifth so that many clients do not come back at one moment.
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

// command asks the supervisor for something and waits for the answer.
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

// ask hands a command to the supervisor.
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

// Logout unlinks the account at the network when it is open, and wipes the
// session in any case. Without a session it succeeds and does nothing.
func (m *Manager) Logout(ctx context.Context) (unlinked bool, err error) {
	if m.Status().User == nil {
		return false, nil
	}
	result, err := m.ask(ctx, commandLogout)
	return result.unlinked, err
}

// Reconnect tries to connect now, also when the account was replaced by
// another client. Without a session it fails with [bridge.CodeNoSession].
func (m *Manager) Reconnect(ctx context.Context) error {
	if m.Status().User == nil {
		return bridge.Fail(bridge.CodeNoSession, "there is no session to reconnect: pair the account first")
	}
	_, err := m.ask(ctx, commandReconnect)
	return err
}
