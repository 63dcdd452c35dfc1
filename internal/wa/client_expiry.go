package wa

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
)

// These settings store an announced expiry: when the version will be refused (Unix seconds), and
// which version.
const (
	settingExpiry        = "client_expires"
	settingExpiryVersion = "client_expires_version"
)

// expiry is the network's announcement that it will refuse the client's version (the network in winter 2026, section 5).
type expiry struct {
	wake chan struct{} // has an element when a newer version must be looked up

	mu      sync.Mutex
	at      time.Time // zero if none; guarded by mu
	version string    // the announcement only applies to it; guarded by mu
	advice  string    // the result of the last look-up; guarded by mu
	shown   string    // the sentence shown in the status; guarded by mu
}

// announce records an announcement for a version; the zero time withdraws it. A later date does
// not replace an earlier one. It reports whether anything has changed.
func (e *expiry) announce(at time.Time, version string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := !e.at.IsZero() && e.version == version
	if known && !at.IsZero() && !at.Before(e.at) || !known && at.IsZero() {
		return false
	}
	e.at, e.version, e.advice = at, version, "looking for a newer one"
	return true
}

// of returns when a version will be refused, or zero if that was not announced.
func (e *expiry) of(version string) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.version != version {
		return time.Time{}
	}
	return e.at
}

func (e *expiry) advise(advice string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advice = advice
}

// show returns the status' sentence for the current version, and an old sentence to remove.
func (e *expiry) show(version string) (sentence, over string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.version == version && !e.at.IsZero() {
		// Remedy: before that date allow access to `https://web.whatsapp.com`, set `CLIENT_VERSION`,
		// or update bridged ([client versions](#client-versions)).
		sentence = "the network will refuse this client's version (" + version + ") from " + bridge.At(e.at).String() + ": " + e.advice
	}
	if e.shown != sentence {
		over, e.shown = e.shown, sentence
	}
	return sentence, over
}

// noteExpiration reads the announcement that the version of this login expires. whatsmeow emits no
// event for it (connectionevents.go, handleIB).
func (l *link) noteExpiration(node *waBinary.Node) {
	if node.Tag != "ib" {
		return
	}
	expiration, announced := node.GetOptionalChildByTag("client_expiration")
	if !announced {
		return
	}
	var at time.Time
	if seconds, err := strconv.ParseInt(expiration.AttrGetter().OptionalString("t"), 10, 64); err == nil && seconds > 0 {
		at = time.Unix(seconds, 0)
	}
	version, _ := l.version.Load().(string)
	l.notify(notice{kind: noticeExpiry, at: at, version: version})
}

// noteExpiry stores an announced expiry of a version and wakes the look-up of a newer one. A newer one may
// already have been found since the login.
func (m *Manager) noteExpiry(at time.Time, version string) {
	if !m.expiry.announce(at, version) {
		return
	}
	m.saveTime(settingExpiry, at)
	m.saveSetting(settingExpiryVersion, version)
	if at.IsZero() {
		m.log.Info().Str("version", version).Msg("the network has withdrawn the expiry of this client's version")
	} else {
		m.log.Warn().Str("version", version).Time("expires", at).Msg("the network will refuse this client's version; looking for a newer one")
		m.wakeRenewal()
	}
	m.showExpiry()
}

func (m *Manager) wakeRenewal() { bridge.Wake(m.expiry.wake) }

// showExpiry shows an announced expiry in the status while the account is open, until a newer
// version is used.
func (m *Manager) showExpiry() {
	sentence, over := m.expiry.show(m.clientVersion().String())
	if m.forgetError(over) && sentence == "" {
		m.announce("")
	}
	m.warn(sentence)
}

// loadExpiry reads the expiry that was announced to an earlier run.
func (m *Manager) loadExpiry(ctx context.Context) error {
	at, atErr := m.savedTime(ctx, settingExpiry)
	version, versionErr := m.store.Setting(ctx, settingExpiryVersion)
	if err := errors.Join(atErr, versionErr); err != nil || at.IsZero() {
		return err
	}
	m.expiry.announce(at, version)
	m.wakeRenewal()
	return nil
}

// renewExpiring looks for a newer version when the current one expires, at once and then hourly,
// and makes the account log in with it.
func (m *Manager) renewExpiring(ctx context.Context) {
	again := time.NewTicker(time.Duration(m.hourly.Load()))
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.expiry.wake:
		case <-again.C:
		}
		again.Reset(time.Duration(m.hourly.Load()))
		before := m.clientVersion()
		if m.expiry.of(before.String()).IsZero() {
			continue
		}
		_, err := m.lookUpVersion(ctx, false)
		switch after := m.clientVersion(); {
		case before.LessThan(after):
			m.relogin("logging in with a newer client version (" + after.String() + ")")
		case err != nil:
			m.expiry.advise("the newest one cannot be looked up: let this machine reach https://web.whatsapp.com, or set PROXY_URL or CLIENT_VERSION, or update bridged; trying again hourly")
		default:
			m.expiry.advise("it is still the newest one that the network names; looking again hourly")
		}
		m.showExpiry()
	}
}

// relogin makes the current connection of a session log in again.
func (m *Manager) relogin(sentence string) {
	m.mu.Lock()
	l := m.link
	m.mu.Unlock()
	if l != nil {
		l.notify(notice{kind: noticeRelogin, sentence: sentence})
	}
}
