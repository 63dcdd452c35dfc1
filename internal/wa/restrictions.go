package wa

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// settingTimelock stores when the reach-out timelock ends, in Unix seconds, because the network
// sends it only once.
const settingTimelock = "reachout_timelock"

// timelock prevents the account from starting new chats.
type timelock struct {
	mu    sync.Mutex
	until time.Time // zero if there is no timelock or its end is not known; guarded by mu
	shown string    // the sentence shown in the status; guarded by mu
}

func (t *timelock) set(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = until
}

// left returns how long it lasts; 0 if that is unknown, or it is over.
func (t *timelock) left() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, time.Until(t.until))
}

// show returns the status' sentence while it lasts, and an old sentence to remove.
func (t *timelock) show() (sentence, over string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Until(t.until) > 0 {
		// Remedy: wait. Sends to new chats are 429 `reachout_restricted`, or `new_chats_capped` if
		// the quota of new chats is used up (`newChats` in the status); everything else works.
		sentence = "the network does not let this account start new chats until " + bridge.At(t.until).String() +
			": people who have written to it can be answered"
	}
	if t.shown != sentence {
		over, t.shown = t.shown, sentence
	}
	return sentence, over
}

// noteTimelock stores the timelock before it is acknowledged.
func (m *Manager) noteTimelock(e *events.NotifyAccountReachoutTimelock) {
	var until time.Time
	if e.IsActive {
		until = e.TimeEnforcementEnds.Time
	}
	m.timelock.set(until)
	m.saveTime(settingTimelock, until)
	m.showTimelock()
}

// showTimelock shows the timelock in the status while the account is open, until it ends.
func (m *Manager) showTimelock() { m.showRestriction(m.timelock.show()) }

// showRestriction shows a sentence in the status while the account is open, and removes the
// sentence of a past restriction.
func (m *Manager) showRestriction(sentence, over string) {
	if m.forgetError(over) && sentence == "" {
		m.announce("")
	}
	m.warn(sentence)
}

// saveTime stores a time in whole seconds, rounded up; the zero time removes it.
func (m *Manager) saveTime(setting string, at time.Time) {
	value := ""
	if !at.IsZero() {
		value = strconv.FormatInt(at.Add(time.Second-1).Unix(), 10)
	}
	m.saveSetting(setting, value)
}

// saveSetting stores a setting, even while the program stops.
func (m *Manager) saveSetting(setting, value string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.background), saveTimeout)
	defer cancel()
	if err := m.store.SetSetting(ctx, setting, value); err != nil {
		m.log.Warn().Err(err).Str("setting", setting).Msg("cannot store a setting for the next start")
	}
}

// savedTime reads a stored time, or the zero time.
func (m *Manager) savedTime(ctx context.Context, setting string) (time.Time, error) {
	value, err := m.store.Setting(ctx, setting)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return time.Time{}, nil // continue without it
	}
	return time.Unix(seconds, 0), nil
}

// These settings store a ban: when to try again, in Unix seconds, and the status' sentence.
const (
	settingBan       = "ban_until"
	settingBanReason = "ban_reason"
)

// ban prevents the account from logging in.
type ban struct {
	mu     sync.Mutex
	until  time.Time // when to try again; zero for no ban; guarded by mu
	reason string    // the sentence of the status; guarded by mu
}

// set records a ban or its end, and reports whether there was a ban before.
func (b *ban) set(until time.Time, reason string) (was bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was = !b.until.IsZero()
	b.until, b.reason = until, reason
	return was
}

// left returns how long to wait and why, or 0.
func (b *ban) left() (left time.Duration, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.until)), b.reason
}

// banned stores a ban, so that it survives restarts, and returns the notice for the connection.
func (m *Manager) banned(e *events.TemporaryBan) notice {
	n := banNotice(e)
	until := time.Now().Add(n.after)
	m.ban.set(until, n.sentence)
	m.saveTime(settingBan, until)
	m.saveSetting(settingBanReason, n.sentence)
	return n
}

// endBan removes a ban, because the account was let in or its session is gone.
func (m *Manager) endBan() {
	if m.ban.set(time.Time{}, "") {
		m.saveTime(settingBan, time.Time{})
		m.saveSetting(settingBanReason, "")
	}
}

// loadRestrictions reads the restrictions of an earlier run.
func (m *Manager) loadRestrictions(ctx context.Context) error {
	locked, lockErr := m.savedTime(ctx, settingTimelock)
	banned, banErr := m.savedTime(ctx, settingBan)
	reason, reasonErr := m.store.Setting(ctx, settingBanReason)
	if err := errors.Join(lockErr, banErr, reasonErr, m.loadQuota(ctx)); err != nil {
		return err
	}
	m.timelock.set(locked)
	m.ban.set(banned, reason)
	return nil
}

func banNotice(e *events.TemporaryBan) notice {
	until := "for an unknown time"
	wait := e.Expire
	if wait > 0 {
		until = "until " + bridge.At(time.Now().Add(wait)).String()
	} else {
		wait = refusedPause
	}
	return notice{
		kind: noticeRefusedLogin, after: wait,
		// Remedy: wait. Send less, and to people who know the account.
		sentence: fmt.Sprintf("the account is banned %s (%s): trying again at the end", until, e.Code),
	}
}
