package wa

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// The settings of a ban: when to try again, in Unix seconds, and what the status
// says until then. A login while it lasts would only be refused.
const (
	settingBan       = "ban_until"
	settingBanReason = "ban_reason"
)

// ban keeps the account from logging in.
type ban struct {
	mu     sync.Mutex
	until  time.Time // when to try again; zero where there is none; guarded by mu
	reason string    // the sentence of the status; guarded by mu
}

func (b *ban) set(until time.Time, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until, b.reason = until, reason
}

// present returns how long to wait, and why; 0 is no ban.
func (b *ban) present() (left time.Duration, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.until)), b.reason
}

func (b *ban) isSet() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.until.IsZero()
}

// banned keeps a ban over restarts, and returns what it means for the connection.
func (m *Manager) banned(e *events.TemporaryBan) notice {
	n := banNotice(e)
	until := time.Now().Add(n.after)
	m.ban.set(until, n.sentence)
	m.keepMoment(settingBan, until)
	m.keepReason(n.sentence)
	return n
}

// endBan forgets a ban: the account was let in, or its session is gone.
func (m *Manager) endBan() {
	if !m.ban.isSet() {
		return
	}
	m.ban.set(time.Time{}, "")
	m.keepMoment(settingBan, time.Time{})
	m.keepReason("")
}

func (m *Manager) keepReason(sentence string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.background), saveTimeout)
	defer cancel()
	if err := m.store.SetSetting(ctx, settingBanReason, sentence); err != nil {
		m.log.Warn().Err(err).Msg("the reason of a ban was not written down")
	}
}

// loadRestrictions reads what the network said of the account in an earlier run.
func (m *Manager) loadRestrictions(ctx context.Context) error {
	locked, lockErr := m.moment(ctx, settingTimelock)
	banned, banErr := m.moment(ctx, settingBan)
	reason, reasonErr := m.store.Setting(ctx, settingBanReason)
	if err := errors.Join(lockErr, banErr, reasonErr); err != nil {
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
		sentence: fmt.Sprintf("the account is banned %s (%s): trying again at the end", until, e.Code),
	}
}
