package wa

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

const (
	// phoneLimit is how long the network keeps a linked device whose phone
	// stays away; phoneWarning is when people are told.
	phoneLimit   = 14 * 24 * time.Hour
	phoneWarning = 12 * 24 * time.Hour
	phoneCheck   = 6 * time.Hour
	// phoneNote is how often the phone's signs of life are written down.
	phoneNote = time.Hour

	settingPhoneSeen = "phone_seen"
)

// fromPhone says whether an event is the phone's own doing: only then is it
// known to be there. The server answers for it otherwise.
func fromPhone(evt any) bool {
	switch e := evt.(type) {
	case *events.Message:
		return e.Info.IsFromMe && e.Info.Sender.Device == 0
	case *events.UndecryptableMessage:
		return e.Info.IsFromMe && e.Info.Sender.Device == 0
	case *events.Receipt:
		return e.IsFromMe && e.Sender.Device == 0
	case *events.PairSuccess, *events.MediaRetry:
		return true
	}
	return false
}

// sawPhone notes a sign of life of the phone.
func (m *Manager) sawPhone() {
	now := time.Now()
	m.mu.Lock()
	m.phoneSeen = now
	note := now.Sub(m.phoneNoted) >= phoneNote
	if note {
		m.phoneNoted = now
	}
	m.mu.Unlock()
	if !note {
		return
	}
	m.workers.Go(func() {
		ctx, cancel := context.WithTimeout(m.background, saveTimeout)
		defer cancel()
		if err := m.inbox.SetSetting(ctx, settingPhoneSeen, strconv.FormatInt(now.Unix(), 10)); err != nil && m.background.Err() == nil {
			m.log.Warn().Err(err).Msg("the phone's sign of life was not written down")
		}
	})
}

// loadPhoneSeen reads when the phone was last seen; a session from before
// that was written down counts from now.
func (m *Manager) loadPhoneSeen(ctx context.Context) error {
	text, err := m.inbox.Setting(ctx, settingPhoneSeen)
	if err != nil {
		return err
	}
	seen := time.Now()
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		seen = time.Unix(seconds, 0)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phoneSeen = seen
	return nil
}

// checkPhone warns, while the account is open, before the network removes
// the link because the phone stayed away.
func (m *Manager) checkPhone() {
	m.mu.Lock()
	seen := m.phoneSeen
	m.mu.Unlock()
	if time.Since(seen) < phoneWarning {
		return
	}
	m.log.Warn().Time("phone_seen", seen).Msg("the phone has been away for long")
	m.setState(bridge.StateOpen, fmt.Sprintf("the phone was last seen on %s: open WhatsApp on it before %s, or the network removes the link",
		bridge.At(seen), bridge.At(seen.Add(phoneLimit))))
}
