package wa

import (
	"context"
	"crypto/rand"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

const (
	// phonePing is after how long without a sign of life the phone is asked for one, at
	// most daily: that of an idle account is on, and has had nothing to say.
	phonePing  = 10 * 24 * time.Hour
	pingPause  = 24 * time.Hour
	pingBudget = 30 * time.Second
)

// pingPatience is how long the phone has for its answer before anybody is warned.
var pingPatience = time.Minute

// shouldPing reports whether to ask the phone for a sign of life now, and notes that it
// is asked.
func (p *phone) shouldPing(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.seen) < phonePing || !p.pinged.IsZero() && now.Sub(p.pinged) < pingPause {
		return false
	}
	p.pinged = now
	return true
}

// pingPhone asks the phone for a key that nobody has, which it answers, and has its
// absence looked at again once it has had its time.
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
		l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the phone was not asked for a sign of life")
	}
	select {
	case <-l.ctx.Done():
	case <-time.After(pingPatience):
		l.notify(notice{kind: noticePinged})
	}
}
