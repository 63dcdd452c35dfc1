package wa

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

const (
	// phoneLimit is the absence of the phone after which the network removes its devices.
	phoneLimit   = 14 * 24 * time.Hour
	phoneWarning = 12 * 24 * time.Hour
	phoneCheck   = 6 * time.Hour
	// phoneNote is the pause between two records of the phone's signs of life.
	phoneNote = time.Hour

	settingPhoneSeen = "phone_seen"
)

// phone tracks the absence of the account's phone, because the network unlinks devices whose
// phone is absent.
type phone struct {
	mu      sync.Mutex // guards the fields from here on
	seen    time.Time  // its last sign of life
	noted   time.Time  // when one was last stored
	pinged  time.Time  // when it was last asked for one
	warning string     // the status' sentence while it is away, or ""
}

// saw records a sign of life. note says whether to store it; ended is the warning that it ends.
func (p *phone) saw(at time.Time) (note bool, ended string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !at.After(p.seen) {
		return false, ""
	}
	p.seen = at
	ended, p.warning = p.warning, ""
	if note = at.Sub(p.noted) >= phoneNote; note {
		p.noted = at
	}
	return note, ended
}

func (p *phone) lastSeen() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// away returns when the phone was last seen, and a warning if that is long ago.
func (p *phone) away(now time.Time) (seen time.Time, warning string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.seen) >= phoneWarning {
		p.warning = fmt.Sprintf("the phone was last seen on %s: open WhatsApp on it before %s, or the network removes the link",
			bridge.At(p.seen), bridge.At(p.seen.Add(phoneLimit)))
		return p.seen, p.warning
	}
	return p.seen, ""
}

// stanzaOf returns the source of an event and the network's time of it, or zero.
func stanzaOf(evt any) (by types.MessageSource, at time.Time) {
	switch e := evt.(type) {
	case *events.Message:
		return e.Info.MessageSource, e.Info.Timestamp
	case *events.UndecryptableMessage:
		return e.Info.MessageSource, e.Info.Timestamp
	case *events.Receipt:
		return e.MessageSource, e.Timestamp
	}
	return by, at
}

// fromPhone returns the time of an event that the phone itself caused, or zero.
func fromPhone(evt any) time.Time {
	switch e := evt.(type) {
	case *events.MediaRetry:
		return e.Timestamp
	case *events.PairSuccess:
		return time.Now()
	}
	if by, at := stanzaOf(evt); by.IsFromMe && by.Sender.Device == 0 {
		return at
	}
	return time.Time{}
}

// sawPhone records a sign of life of the phone.
func (m *Manager) sawPhone(at time.Time) {
	note, ended := m.phone.saw(at)
	m.forgetError(ended)
	if note {
		m.workers.Go(func() { m.saveTime(settingPhoneSeen, at.Truncate(time.Second)) })
	}
}

// loadPhoneSeen reads when the phone was last seen before the start. It assumes the present if
// that is not known.
func (m *Manager) loadPhoneSeen(ctx context.Context) error {
	seen, err := m.savedTime(ctx, settingPhoneSeen)
	if seen.IsZero() {
		seen = time.Now()
	}
	m.phone.seen = seen
	return err
}

// checkPhone asks an absent phone for a sign of life, and warns if none is received.
func (l *link) checkPhone() {
	m := l.m
	now := m.opts.Clock.Now()
	if m.phone.shouldPing(now) {
		m.workers.Go(l.pingPhone)
		return
	}
	if seen, warning := m.phone.away(now); warning != "" {
		m.log.Warn().Time("phone_seen", seen).Msg("the phone has been offline for a long time")
		m.setState(bridge.StateOpen, warning)
	}
}

const (
	// phonePing is the absence after which the phone is asked for a sign of life, at most daily:
	// the phone of an idle account is silent although it is on.
	phonePing  = 10 * 24 * time.Hour
	pingPause  = 24 * time.Hour
	pingBudget = 30 * time.Second
)

// pingTimeout limits the wait for the phone's answer before a warning is shown.
var pingTimeout = time.Minute

// shouldPing reports whether to ask the phone for a sign of life now, and records that.
func (p *phone) shouldPing(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.seen) < phonePing || !p.pinged.IsZero() && now.Sub(p.pinged) < pingPause {
		return false
	}
	p.pinged = now
	return true
}

// pingPhone asks the phone for an unknown key, because it answers that, and later has its absence
// checked again.
func (l *link) pingPhone() {
	ctx, cancel := context.WithTimeout(l.ctx, pingBudget)
	defer cancel()
	unknown := make([]byte, 6)
	_, _ = rand.Read(unknown) // never fails
	_, err := l.cli.SendPeerMessage(ctx, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_REQUEST.Enum(),
		AppStateSyncKeyRequest: &waE2E.AppStateSyncKeyRequest{
			KeyIDs: []*waE2E.AppStateSyncKeyId{{KeyID: unknown}},
		},
	}})
	if err != nil {
		l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot ask the phone for a sign of life")
	}
	select {
	case <-l.ctx.Done():
	case <-time.After(pingTimeout):
		l.notify(notice{kind: noticePinged})
	}
}
