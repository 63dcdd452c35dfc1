package wa

import (
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/groups"
	"bridged/internal/wa/history"
	"bridged/internal/wa/sending"
	"bridged/internal/wa/session"
)

// unreachable is the last error while the network does not answer.
const unreachable = "WhatsApp cannot be reached: check the internet connection and the DNS of this machine, or set PROXY_URL; trying again"

// setState changes the account's state and its last error. An empty sentence leaves the last
// error as it is, except that open clears it; see clearError.
func (m *Manager) setState(state bridge.State, sentence string) {
	m.mu.Lock()
	changed := m.status.Status != state
	if changed {
		m.status.Status = state
		m.status.Since = bridge.At(time.Now())
	}
	if sentence != "" && (m.status.LastError == nil || *m.status.LastError != sentence) {
		m.status.LastError = &sentence
		changed = true
	}
	if state == bridge.StateOpen && sentence == "" && m.status.LastError != nil {
		m.status.LastError = nil
		changed = true
	}
	m.mu.Unlock()
	if changed {
		m.announce(sentence)
	}
}

// announce logs the status and appends it to the event log.
func (m *Manager) announce(sentence string) {
	status := m.Status()
	event := m.log.Info().Str("status", string(status.Status))
	if user := status.User; user != nil {
		event.Str("user", user.JID.Redacted())
	}
	if sentence != "" {
		event.Str("reason", sentence)
	}
	sentence = "account status"
	if status.Status == bridge.StateNeedsPair {
		sentence = "not paired: run bridged pair"
	}
	event.Msg(sentence)
	status.QR, status.PairingCode, status.PairingCodeExpiresAt, status.CatchingUp = nil, nil, nil, nil
	if err := m.store.Save(m.background, status); err != nil {
		m.log.Warn().Err(err).Msg("cannot store the account's status")
	}
}

// Status returns the current status of the account.
func (m *Manager) Status() bridge.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	status := m.status
	if m.user != nil {
		status.User = new(*m.user)
		status.HasSession = true
	}
	status.SecurityNotice = m.security.current(m.opts.Clock.Now())
	if m.link != nil {
		status.CatchingUp = m.link.offline.Progress()
	}
	m.showLogin(&status)
	if p := m.pairing; p != nil {
		p.offer.show(&status, time.Now())
	}
	if status.HasSession {
		status.NewChats = m.quota.current()
	}
	return status
}

// showLogin adds the expected next login to a status.
func (m *Manager) showLogin(status *bridge.Status) {
	version := m.clientVersion().String()
	status.ClientVersion = bridge.ClientVersion{Current: version}
	if at := m.expiry.of(version); !at.IsZero() {
		status.ClientVersion.ExpiresAt = new(bridge.At(at))
	}
	if until := m.pausedUntil(); time.Until(until) > 0 && status.Status != bridge.StateOpen {
		status.PausedUntil = new(bridge.At(until))
	}
}

// Ready returns nil while the socket is open, and otherwise a [bridge.CodeNotConnected] error, or
// [bridge.CodeStorageUnavailable] if files were removed.
func (m *Manager) Ready() error {
	if err := m.opts.Watch.Check(); err != nil {
		return err
	}
	status := m.Status()
	switch status.Status {
	case bridge.StateOpen:
		if err := m.leaseRefusal(); err != nil { // the supervisor does not know it yet
			return bridge.NotConnected("%v", err)
		}
		return nil
	case bridge.StateNeedsPair:
		return bridge.NotConnected("the account is not paired: POST /api/auth/pair and enter the code on the phone")
	}
	if status.LastError != nil {
		return bridge.NotConnected("the account is not connected (status %s): %s", status.Status, *status.LastError)
	}
	return bridge.NotConnected("the account is not connected yet (status %s): try again in a moment", status.Status)
}

// open returns the link while the socket is open, else the error of Ready.
func (m *Manager) open() (*link, error) {
	if err := m.Ready(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link == nil {
		return nil, bridge.NotConnected("the account is not connected yet: try again in a moment")
	}
	return m.link, nil
}

// openClient returns the client of [Manager.open].
func (m *Manager) openClient() (*sending.Client, error) {
	l, err := m.open()
	if err != nil {
		return nil, err
	}
	return l.cli, nil
}

// openGroups returns the open connection for package groups.
func (m *Manager) openGroups() (*session.Client, groups.Recipients, error) {
	c, err := m.openClient()
	if err != nil {
		return nil, nil, err
	}
	return c.Client, c, nil
}

// openHistory returns the open connection for package history.
func (m *Manager) openHistory() (history.Conn, error) {
	l, err := m.open()
	if err != nil {
		return history.Conn{}, err
	}
	return history.Conn{Client: l.cli.Client, Ctx: l.ctx, Facts: l.messageFacts}, nil
}

// setUser sets the user of the session; nil if it has ended.
func (m *Manager) setUser(user *bridge.User) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.user = user
}

// setLID adds the LID to the user of a session from before LIDs.
func (m *Manager) setLID(lid bridge.JID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.user != nil && lid != "" {
		m.user.LID = lid
	}
}

// setPushName updates the account's own name, also in lists of members.
func (m *Manager) setPushName(name string) {
	m.mu.Lock()
	if m.user != nil {
		m.user.PushName = name
	}
	m.mu.Unlock()
	if err := m.store.Save(m.background, m.ownNames()...); err != nil {
		m.log.Warn().Err(err).Msg("cannot store the account's own name; trying again at the next login")
	}
}

// ownNames returns the facts about the account as a person, or nil while unpaired.
func (m *Manager) ownNames() []bridge.Fact {
	user := m.currentUser()
	var facts []bridge.Fact
	if user.LID != "" {
		facts = append(facts, bridge.Identity{PN: user.JID, LID: user.LID})
	}
	if user.PushName != "" {
		facts = append(facts, bridge.Contact{JID: user.JID, PushName: &user.PushName})
	}
	return facts
}

// own returns the account's number and LID; both are empty while unpaired.
func (m *Manager) own() (pn, lid bridge.JID) {
	user := m.currentUser()
	return user.JID, user.LID
}

// currentUser returns the account as far as it is known; empty while unpaired.
func (m *Manager) currentUser() (user bridge.User) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.user != nil {
		user = *m.user
	}
	return user
}

// forgetError clears the last error if it is this sentence, and reports whether it did.
func (m *Manager) forgetError(sentence string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if sentence == "" || m.status.LastError == nil || *m.status.LastError != sentence {
		return false
	}
	m.status.LastError = nil
	return true
}

// warn shows a warning while the account is open without another error.
func (m *Manager) warn(sentence string) {
	m.mu.Lock()
	shown := sentence != "" && m.status.Status == bridge.StateOpen && m.status.LastError == nil
	if shown {
		m.status.LastError = &sentence
	}
	m.mu.Unlock()
	if shown {
		m.announce(sentence)
	}
}

// clearError clears the last error.
func (m *Manager) clearError() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status.LastError = nil
}
