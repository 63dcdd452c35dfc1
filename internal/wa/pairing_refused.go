package wa

import (
	"context"
	"time"

	"bridged/internal/bridge"
)

// noCodesSentence is the status' sentence while the network closes the connections of a client
// that wants to pair.
const noCodesSentence = "the network sends this bridge no code for pairing and closes its connections: wait some minutes, then update bridged or try another internet connection (PROXY_URL); trying again with growing pauses"

// pairingPauseAfter returns the pause after n consecutive sockets without codes. It doubles from
// a second to a minute.
func pairingPauseAfter(n int) time.Duration {
	return min(longestCodeless, time.Second<<min(n-1, 10))
}

// requestedHistory returns how much history a pairing requests.
func (m *Manager) requestedHistory() bridge.HistoryImport {
	if wanted := m.opts.HistoryImport; !m.shallow.Load() || !wanted.IsDeep() {
		return wanted
	}
	return bridge.HistoryRecent
}

// pairShallow pairs as a browser from now on, and reports whether that is a change. The network
// may send no codes to a desktop, which phones send years of history to.
func (m *Manager) pairShallow() bool {
	if !m.opts.HistoryImport.IsDeep() || m.shallow.Swap(true) {
		return false
	}
	m.log.Warn().Str("HISTORY_IMPORT", string(m.opts.HistoryImport)).
		Msg("the network sends no code to a desktop; pairing as a browser, which phones send less history to")
	return true
}

func (m *Manager) shallowSentence() string {
	// Remedy: pair. For more history, pair again later.
	return "the network sends no code to a desktop, as which HISTORY_IMPORT=" + string(m.opts.HistoryImport) +
		" pairs: bridged pairs as a browser now, to which phones send some months of their history"
}

// loginPaused reports whether the network has asked for a pause of logins.
func (m *Manager) loginPaused() bool {
	wait, _ := m.loginPause.left(time.Now())
	return wait > 0
}

// renewRefused makes a pairing that the network has refused try again, because a code is
// requested.
func (m *Manager) renewRefused(ctx context.Context) error {
	m.mu.Lock()
	p := m.pairing
	m.mu.Unlock()
	if p == nil || p.offer.refused() == "" || m.loginPaused() {
		return nil
	}
	if _, err := m.ask(ctx, commandRenewPairing); err != nil {
		return bridge.NotConnected("%s", p.offer.refused()).Because(err)
	}
	return nil
}
