package wa

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// onNotified handles a stanza that whatsmeow drops. The connection is cut if it could not
// be stored, so that the network sends it again.
func (l *link) onNotified(evt any) {
	if l.ctx.Err() == nil && !l.handle(evt) {
		l.cut()
	}
}

// usernameFacts returns a change of a username. The account's own is asked for if the
// notification does not name it.
func (l *link) usernameFacts(e session.UsernameChanged) []bridge.Fact {
	if pn, lid := l.m.own(); e.IsOwn {
		if e.Person != lid {
			return nil
		}
		if e.IsUnknown {
			l.m.workers.Go(func() { l.askOwnUsername(pn) })
			return nil
		}
	}
	return []bridge.Fact{bridge.Contact{JID: e.Person, Username: &e.Username}}
}

// askOwnUsername asks for the account's number. The answer has the username (see
// learnUsernames).
func (l *link) askOwnUsername(pn bridge.JID) {
	ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
	defer cancel()
	if _, err := l.cli.IsOnWhatsApp(ctx, []string{"+" + pn.User()}); err != nil && l.ctx.Err() == nil {
		l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("the account's own username was not read")
	}
}
