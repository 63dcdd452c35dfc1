package wa

import (
	"context"
	"fmt"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// settingDefaultTimer stores the account's default timer: its seconds and when it was set (Unix).
const settingDefaultTimer = "default_timer"

// defaultTimer is the timer that the account's new chats start with.
type defaultTimer struct {
	mu      sync.Mutex // guards the fields from here on
	seconds uint32
	setAt   int64 // Unix
	isAsked bool  // since the program started
}

// value returns the timer in seconds; 0 means none.
func (t *defaultTimer) value() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seconds
}

// set changes the timer and reports whether it did. It ignores a timer that was set before the
// known one.
func (t *defaultTimer) set(seconds uint32, at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	setAt := int64(0)
	if !at.IsZero() {
		setAt = at.Unix()
	}
	if setAt < t.setAt || seconds == t.seconds && setAt == t.setAt {
		return false
	}
	t.seconds, t.setAt = seconds, setAt
	return true
}

// ask reports whether to ask the network, which is done once for each start of the program.
func (t *defaultTimer) ask() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.isAsked
	t.isAsked = true
	return !before
}

// askLater makes the next login ask the network.
func (t *defaultTimer) askLater() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isAsked = false
}

// noteDefaultTimer stores the account's default timer. It ignores the timers of other people.
func (m *Manager) noteDefaultTimer(timer session.DefaultTimer) {
	if pn, lid := m.own(); timer.Person == "" || timer.Person != pn && timer.Person != lid {
		return
	}
	if m.defaultTimer.set(timer.Seconds, timer.SetAt) {
		m.saveSetting(settingDefaultTimer, fmt.Sprintf("%d %d", timer.Seconds, m.defaultTimer.setAt))
		m.log.Info().Uint32("seconds", timer.Seconds).Msg("the account's default timer of disappearing messages has changed")
	}
}

// loadDefaultTimer reads the timer that an earlier run stored.
func (m *Manager) loadDefaultTimer(ctx context.Context) error {
	text, err := m.store.Setting(ctx, settingDefaultTimer)
	if err != nil || text == "" {
		return err
	}
	var seconds uint32
	var at int64
	if _, err := fmt.Sscan(text, &seconds, &at); err == nil {
		m.defaultTimer.set(seconds, time.Unix(at, 0))
	}
	return nil
}

// checkDefaultTimer asks for the account's default timer at the first login.
func (l *link) checkDefaultTimer() {
	pn, _ := l.m.own()
	if pn == "" || !l.m.defaultTimer.ask() {
		return
	}
	l.m.workers.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
		defer cancel()
		timer, err := l.cli.DefaultTimer(ctx, pn)
		if err == nil {
			l.m.noteDefaultTimer(timer)
			return
		}
		l.m.defaultTimer.askLater()
		if l.ctx.Err() == nil {
			l.m.log.Debug().Str("error", bridge.Redact(err.Error())).Msg("cannot read the account's default timer; asking again at the next login")
		}
	})
}
