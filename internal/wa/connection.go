package wa

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// connectingTimeout is how long a lost connection counts as connecting; tests shorten it.
var connectingTimeout = 30 * time.Second

const (
	// loginTimeout limits a login after the socket is open.
	loginTimeout = 60 * time.Second
	// minUptime is how long a connection must last after its login to count as working. Shorter
	// ones do not reset the back-off.
	minUptime = 30 * time.Second
	// storageCheck is the pause between two checks of the files while a connection is idle.
	storageCheck = 2 * time.Second
)

// connection keeps a paired link connected.
type connection struct {
	supervisor
	lostAt       time.Time // when the account was last open, or when the session started
	openAt       time.Time // when it became open
	phoneChecked time.Time // when the phone's absence was last checked
	ending       string    // why the session has ended; set while its keys cannot be wiped
}

func (m *Manager) runConnected(ctx context.Context, device *session.Device) {
	l := m.newLink(ctx, device)
	m.use(l)
	defer m.use(nil)
	defer m.acquireLease(l, device)() // released after the link has ended
	s := &connection{supervisor: newSupervisor(m, l), lostAt: time.Now()}
	if wait, sentence := m.loginWait(); wait > 0 {
		s.halt(sentence)
		s.schedule(wait)
	} else {
		m.setState(bridge.StateConnecting, "")
	}
	s.run(ctx, s)
}

func (s *connection) onTimer() bool {
	switch s.phase {
	case phaseWaiting:
		s.tryConnect()
	case phaseDialling, phaseLogin:
		s.m.log.Warn().Msg("the network does not answer a dial or login; closing the connection")
		s.l.abort()
		s.retry("the network did not answer the login; trying again")
	case phaseEnding:
		return s.finish(s.ending)
	}
	return false
}

// tryConnect starts a dial unless the storage fails, the session belongs to another account, or another
// process holds the lease.
func (s *connection) tryConnect() {
	if err := s.m.opts.Watch.Check(); err != nil {
		s.suspend(err, reasonOf(err))
		return
	}
	sentence, err := s.foreign(s.l.ctx)
	refused := s.m.leaseRefusal()
	switch {
	case refused != nil:
		s.yield(refused)
	case err != nil:
		s.suspend(err, "not connected because the stored messages cannot be read: "+reasonOf(err))
	case sentence != "":
		s.halt(sentence)
	default:
		// Not at the login: refused stanzas are received again before its event.
		s.l.refusing.Store(false)
		s.connect(dialLimit)
	}
}

func (s *connection) onLapse() {
	if s.phase != phaseOpen {
		s.m.setState(bridge.StateClosed, "")
	}
}

func (s *connection) onCheck() {
	s.checkStorage()
	if s.phase != phaseOpen {
		return
	}
	s.m.showTimelock()
	s.m.showQuota()
	s.l.checkQuota()
	s.m.showExpiry()
	if time.Since(s.openAt) >= minUptime {
		s.m.endLoginPauses()
	}
	if time.Since(s.phoneChecked) >= phoneCheck {
		s.checkPhone()
	}
}

func (s *connection) checkPhone() {
	s.phoneChecked = time.Now()
	s.l.checkPhone()
}

// checkStorage ends a connection whose messages could not be stored because the data directory is
// gone.
func (s *connection) checkStorage() {
	if s.phase != phaseLogin && s.phase != phaseOpen {
		return
	}
	if err := s.m.opts.Watch.Check(); err != nil {
		s.l.refusing.Store(true)
		s.l.abort()
		s.suspend(err, reasonOf(err))
		return
	}
	if err := s.m.store.Damage(); err != nil && s.phase == phaseOpen {
		s.m.setState(bridge.StateOpen, reasonOf(err)) // damage does not stop the rest
	}
}

// suspend shows that the storage prevents a connection, and schedules the next attempt.
func (s *connection) suspend(cause error, sentence string) {
	s.m.log.Error().Err(cause).Dur("retry_in", storageCheck).Msg("not connecting because of the storage")
	s.lost()
	s.m.setState(stateWhileAway(time.Since(s.lostAt)), sentence)
	s.schedule(storageCheck)
}

// foreign returns why this session must not be used, or "". A store holds the messages of one
// account only.
func (s *connection) foreign(ctx context.Context) (string, error) {
	owner, known, err := s.m.store.OwnerOf(ctx)
	if err != nil {
		return "", fmt.Errorf("read the owner of the store: %w", err)
	}
	pn, lid := s.m.own()
	if !known || owner.SameAccount(bridge.Owner{PN: pn, LID: lid}) {
		return "", nil
	}
	return "the session belongs to another account than the stored messages: restore the session that belongs to them, or log out and pair that account", nil
}

func (s *connection) onDialled(err error) {
	switch {
	case s.phase == phaseHalted, s.phase == phaseYielding:
		s.l.disconnect() // halted during the dial
	case s.phase != phaseDialling:
	case err != nil:
		s.m.log.Warn().Str("error", bridge.Redact(err.Error())).Int("tries", s.tries).Msg("connection failed")
		s.retry(unreachable)
	case !s.l.cli.IsConnected():
		s.retry("the connection was lost; reconnecting")
	default: // an earlier login event has already ended the phase
		s.enter(phaseLogin, loginTimeout)
	}
}

// retry schedules the next attempt after a failed or lost connection.
func (s *connection) retry(sentence string) {
	s.lost()
	s.m.setState(stateWhileAway(time.Since(s.lostAt)), sentence)
	s.schedule(s.nextPause())
}

// nextPause counts an attempt and returns the pause before the next one.
func (s *connection) nextPause() time.Duration {
	wait := pause(s.tries, time.Since(s.lostAt))
	s.tries++
	return wait
}

// lost records that the account is not open any more. A connection that did not last counts as a
// failed attempt, so that there are pauses between attempts on an unstable line.
func (s *connection) lost() {
	if s.phase != phaseOpen {
		return
	}
	s.lostAt = time.Now()
	if s.lostAt.Sub(s.openAt) >= minUptime {
		s.tries = 0
	}
	s.connecting.Reset(connectingTimeout)
}

func (s *connection) onNotice(n notice) bool {
	if n.kind == noticeLoggedOut {
		return s.finish(n.sentence)
	}
	if n.kind == noticeLease {
		s.onLease()
		return false
	}
	if n.kind == noticeExpiry {
		s.m.noteExpiry(n.at, n.version)
		return false
	}
	if n.kind == noticeHalted && s.phase == phaseWaiting {
		s.halt(n.sentence) // whatsmeow reports the reason after the end
		return false
	}
	if s.phase == phaseWaiting || s.phase == phaseHalted || s.phase == phaseEnding || s.phase == phaseYielding {
		return false // the notice of an abandoned connection
	}
	switch n.kind {
	case noticeConnected:
		s.opened()
	case noticeDisconnected:
		// While dialling, it belongs to an old socket; the dial reports its own end.
		if s.phase != phaseDialling && !s.l.cli.IsConnected() {
			s.retry("the connection was lost; reconnecting")
		}
	case noticeSilent, noticeRelogin:
		s.l.abort()
		s.retry(n.sentence)
	case noticePinged:
		if s.phase == phaseOpen {
			s.checkPhone()
		}
	case noticeRefused:
		s.l.abort()
		s.lost()
		s.m.setState(bridge.StateConnecting, n.sentence)
		s.schedule(n.after)
	case noticeHalted:
		s.halt(n.sentence)
	case noticeRefusedLogin:
		s.halt(n.sentence)
		s.schedule(n.after)
	case noticeOutdated:
		s.outdated()
	case noticeThrottled:
		if wait, sentence := s.m.pauseLogins(n.code); wait > 0 {
			s.halt(sentence)
			s.schedule(wait)
		}
	}
	return false
}

// finish ends a session that the network has ended, and reports success. whatsmeow reports the
// end before it has deleted the keys, so they are wiped here, repeatedly until that succeeds.
func (s *connection) finish(sentence string) bool {
	if err := s.wipe(s.l.ctx); err != nil {
		s.m.log.Error().Err(err).Dur("retry_in", longPause).Msg("cannot wipe the session after the network ended it")
		s.halt(sentence)
		s.ending = sentence
		s.enter(phaseEnding, longPause)
		return false
	}
	s.m.setUser(nil)
	s.m.setState(bridge.StateNeedsPair, sentence)
	return true
}

func (s *connection) opened() {
	if s.phase == phaseOpen || !s.l.cli.LoggedIn() {
		return
	}
	s.enter(phaseOpen, 0)
	s.openAt = time.Now()
	away := s.openAt.Sub(s.lostAt)
	s.connecting.Stop()
	s.m.setState(bridge.StateOpen, "")
	s.m.showTimelock()
	s.m.showQuota()
	s.m.showExpiry()
	s.checkPhone()
	s.l.checkQuota()
	s.l.checkDefaultTimer()
	s.m.workers.Go(func() { s.l.catchUp(away) })
	s.m.History.Wake()
	s.m.sync.wake()
}

// halt closes the connection and schedules no further attempt.
func (s *connection) halt(sentence string) {
	s.lost()
	s.connecting.Stop()
	s.endDial()
	s.enter(phaseHalted, 0)
	s.l.disconnect()
	s.m.setState(bridge.StateClosed, sentence)
}

// outdated tries again at once with a newer version, or else hourly.
func (s *connection) outdated() {
	s.halt(s.m.refusedVersion() + "; looking for a newer one")
	wait, sentence := s.m.renewVersion(s.l.ctx)
	s.m.setState(bridge.StateClosed, sentence)
	s.schedule(wait)
}

func (s *connection) onCommand(c command) bool {
	switch c.kind {
	case commandReconnect:
		if sentence, err := s.foreign(c.ctx); err != nil || sentence != "" {
			if err == nil {
				err = bridge.Fail(bridge.CodeOtherAccount, "%s", sentence)
			}
			c.done <- commandResult{err: err}
			return false
		}
		if err := s.m.leaseRefusal(); err != nil {
			c.done <- commandResult{err: bridge.NotConnected("%v", err)}
			return false
		}
		if s.phase == phaseWaiting || s.phase == phaseHalted {
			s.tries, s.lostAt = 0, time.Now()
			s.connecting.Reset(connectingTimeout)
			s.m.setState(bridge.StateConnecting, "")
			s.schedule(0)
		}
		c.done <- commandResult{}
	case commandLogout:
		result := s.logout(c.ctx)
		c.done <- result
		return result.err == nil
	default:
		c.done <- commandResult{err: bridge.Fail(bridge.CodeAlreadyPaired, "the account is already paired: log out first to pair again")}
	}
	return false
}

// logout unlinks the device at the network if the connection is open, and always wipes the
// session.
func (s *connection) logout(ctx context.Context) commandResult {
	unlinked := false
	if s.phase == phaseOpen {
		ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
		err := s.l.cli.Unlink(ctx)
		cancel()
		if unlinked = err == nil; !unlinked {
			s.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot unlink the device at the network; wiping the session anyway")
		}
	}
	s.endDial()
	s.l.disconnect()
	if err := s.wipe(context.WithoutCancel(ctx)); err != nil {
		s.halt("the session could not be wiped: is the disk full, or the data directory not writable? Log out again")
		return commandResult{unlinked: unlinked, err: err}
	}
	s.m.setUser(nil)
	s.m.clearError()
	s.m.setState(bridge.StateNeedsPair, "")
	return commandResult{unlinked: unlinked}
}

// wipe deletes the session's keys, including the copies in free pages of the file.
func (s *connection) wipe(ctx context.Context) error {
	if err := s.m.db.DeleteDevice(ctx, s.l.cli.Device); err != nil {
		return err
	}
	s.m.endBan()
	s.m.endLoginPauses()
	return errors.Join(s.m.db.Erase(ctx), s.m.History.Forget(ctx))
}

// logoutTimeout limits the network's part of a logout.
const logoutTimeout = 10 * time.Second
