package wa

import (
	"context"
	"strconv"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// settingTimelock is when the reach-out timelock ends, in Unix seconds. The
// network tells of it once, so it is kept over restarts.
const settingTimelock = "reachout_timelock"

// timelock keeps the account from starting new chats.
type timelock struct {
	mu    sync.Mutex
	until time.Time // zero where there is none, or its end is not known; guarded by mu
	shown string    // its sentence in the status; guarded by mu
}

func (t *timelock) set(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = until
}

// left returns how long it lasts; 0 is unknown, or over.
func (t *timelock) left() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, time.Until(t.until))
}

// show returns the sentence of the status while it lasts, and one that has to go.
func (t *timelock) show() (sentence, over string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Until(t.until) > 0 {
		sentence = "the network does not let this account start new chats until " + bridge.At(t.until).String() +
			": whoever has written to it can be answered"
	}
	if t.shown != sentence {
		over, t.shown = t.shown, sentence
	}
	return sentence, over
}

// noteTimelock keeps what the network tells of the timelock, before it is
// acknowledged.
func (m *Manager) noteTimelock(e *events.NotifyAccountReachoutTimelock) {
	var until time.Time
	if e.IsActive {
		until = e.TimeEnforcementEnds.Time
	}
	m.timelock.set(until)
	m.keepMoment(settingTimelock, until)
	m.showTimelock()
}

// showTimelock has the status tell of the timelock while the account is open,
// and no more once it is over.
func (m *Manager) showTimelock() {
	sentence, over := m.timelock.show()
	if m.forgetError(over) && sentence == "" {
		m.announce("")
	}
	m.warn(sentence)
}

// keepMoment writes a moment down; the zero one is none.
func (m *Manager) keepMoment(setting string, at time.Time) {
	value := ""
	if !at.IsZero() {
		value = strconv.FormatInt(at.Add(time.Second-1).Unix(), 10) // not before it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.background), saveTimeout)
	defer cancel()
	if err := m.store.SetSetting(ctx, setting, value); err != nil {
		m.log.Warn().Err(err).Str("setting", setting).Msg("what the network said of the account was not written down")
	}
}

// moment reads what keepMoment has written.
func (m *Manager) moment(ctx context.Context, setting string) (time.Time, error) {
	value, err := m.store.Setting(ctx, setting)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return time.Time{}, nil // none was written
	}
	return time.Unix(seconds, 0), nil
}
