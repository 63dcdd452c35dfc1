package wa

import (
	"cmp"
	"context"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/groups"
	"bridged/internal/wa/session"
)

// onNotified handles a stanza that whatsmeow drops. If it cannot be stored, the connection is
// closed, so that the network sends it again.
func (l *link) onNotified(evt any) {
	if l.ctx.Err() == nil && !l.handle(evt) {
		l.abort()
	}
}

// usernameFacts returns the facts of a changed username. If the notification lacks the account's
// own username, the network is asked for it.
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

// askOwnUsername asks for the account's number. The answer contains the username (see
// learnUsernames).
func (l *link) askOwnUsername(pn bridge.JID) {
	ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
	defer cancel()
	if _, err := l.cli.IsOnWhatsApp(ctx, []string{"+" + pn.User()}); err != nil && l.ctx.Err() == nil {
		l.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot read the account's own username")
	}
}

// follow makes the next messages go to a person's current LID. If it fails, the network sends the
// notification again.
func (l *link) follow(e session.Moved) bool {
	ctx, cancel := context.WithTimeout(l.ctx, saveTimeout)
	defer cancel()
	if err := l.cli.Follow(ctx, e); err != nil {
		return l.refuse(err)
	}
	l.m.log.Info().Str("person", cmp.Or(e.OldPN, e.OldLID).Redacted()).Str("now", cmp.Or(e.NewPN, e.NewLID).Redacted()).
		Msg("a person's number or LID has changed")
	return true
}

// followMembers calls follow for members of a group and replaces them in whatsmeow's list of the
// group's members.
func (l *link) followMembers(e *events.GroupInfo) bool {
	for _, moved := range convert.MovedMembers(e) {
		l.cli.NoteMembers(&events.GroupInfo{JID: e.JID, Leave: []types.JID{*e.Sender}, Join: []types.JID{moved.Now}})
		if !l.follow(session.Moved(moved.Change)) {
			return false
		}
	}
	return true
}

// readAgain reads groups again after the network has lost changes of them.
func (l *link) readAgain(e session.Dirty) {
	l.m.log.Info().Str("what", e.What).Msg("the network has lost changes for this device")
	if e.What == groups.DirtyKind {
		l.m.Groups.MarkDirty(e.At)
	}
}
