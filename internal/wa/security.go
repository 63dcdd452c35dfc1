package wa

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

const (
	// settingSecurity stores the security notice, as JSON, because the network sends it only
	// once.
	settingSecurity = "security_notice"
	// securityShown is how long a notice stays in the status.
	securityShown = 7 * 24 * time.Hour
	// maxDeviceName limits the other phone's name, in bytes.
	maxDeviceName = 60
)

// security holds the last notice of a registration of the account's number.
type security struct {
	mu     sync.Mutex
	notice *bridge.SecurityNotice // nil if none; guarded by mu
}

// set replaces the notice and reports whether it has changed.
func (s *security) set(notice *bridge.SecurityNotice) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.notice
	s.notice = notice
	if before == nil || notice == nil {
		return before != notice
	}
	return before.Kind != notice.Kind || before.Message != notice.Message || !before.At.Equal(notice.At.Time)
}

// current returns the notice while it is to be shown.
func (s *security) current(now time.Time) *bridge.SecurityNotice {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notice == nil || now.Sub(s.notice.At.Time) >= securityShown {
		return nil
	}
	return new(*s.notice)
}

// noteRegistration reports in the status, in an event and in the log that the account's number is
// being registered elsewhere, and stores the notice for later runs.
func (m *Manager) noteRegistration(e session.Registration) {
	if e.At.IsZero() {
		e.At = m.opts.Clock.Now()
	}
	notice := &bridge.SecurityNotice{Kind: e.Kind, At: bridge.At(e.At), Message: securitySentence(e)}
	if !m.security.set(notice) {
		return // received again
	}
	m.keepSecurity(notice)
	m.log.Warn().Str("kind", string(notice.Kind)).Time("at", notice.At.Time).Msg("security: " + bridge.Redact(notice.Message))
	m.announce("")
}

func securitySentence(e session.Registration) string {
	if e.Kind == bridge.SecurityCodeRequested {
		return "somebody has asked WhatsApp for a code to register this account's number on another phone: if that was not you, " +
			"do not pass the code on, and turn on two-step verification on the phone"
	}
	by := "another phone"
	if e.Device != "" {
		by += " (" + bridge.CutBytes(bridge.PlainFileName(e.Device), maxDeviceName) + ")"
	}
	return by + " is taking over this account's number: if that is not yours, register the number again on your phone at once, " +
		"and turn on two-step verification"
}

// endSecurity removes the notice together with its session.
func (m *Manager) endSecurity() {
	if m.security.set(nil) {
		m.keepSecurity(nil)
	}
}

func (m *Manager) keepSecurity(notice *bridge.SecurityNotice) {
	value := ""
	if notice != nil {
		data, err := json.Marshal(notice)
		if err != nil {
			m.log.Warn().Err(err).Msg("cannot store the security notice for the next start")
			return
		}
		value = string(data)
	}
	m.saveSetting(settingSecurity, value)
}

// loadSecurity reads the notice of an earlier run.
func (m *Manager) loadSecurity(ctx context.Context) error {
	value, err := m.store.Setting(ctx, settingSecurity)
	if err != nil || value == "" {
		return err
	}
	notice := new(bridge.SecurityNotice)
	if err := json.Unmarshal([]byte(value), notice); err != nil {
		m.log.Warn().Err(err).Msg("cannot read the security notice of an earlier run")
		return nil
	}
	m.security.set(notice)
	return nil
}
