package wa

import (
	"slices"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// messageFacts converts a decrypted message to facts.
func (l *link) messageFacts(e *events.Message) []bridge.Fact {
	return convert.MessageFacts(e, l.m.currentUser().JID, func(pending bridge.Encrypted, part convert.EncryptedPart) ([]bridge.Fact, bool) {
		facts, ok := l.openWithKnownSecret(e, pending, part)
		if !ok {
			l.m.log.Debug().Str("msg_id", pending.ID).Str("use", string(part.Use)).Msg("the secret of an encrypted part is not known yet")
		}
		return facts, ok
	})
}

// openWithKnownSecret tries whatsmeow's secrets of all possible authors: the key names the author
// from the sender's point of view, by number or by LID.
func (l *link) openWithKnownSecret(e *events.Message, pending bridge.Encrypted, part convert.EncryptedPart) ([]bridge.Fact, bool) {
	senders := l.bothForms(e.Info.Sender, e.Info.SenderAlt)
	var tried []types.JID
	for _, author := range l.possibleAuthors(e.Info.MessageSource, part.Key) {
		if slices.Contains(tried, author) {
			continue
		}
		forms := l.bothForms(author)
		tried = append(tried, forms...)
		secret, as, err := l.cli.MessageSecret(l.ctx, e.Info.Chat, author, part.Key.GetID())
		if err != nil {
			l.m.log.Warn().Str("msg_id", pending.ID).Str("error", bridge.Redact(err.Error())).Msg("cannot read a message secret")
		}
		if facts, ok := part.Open(pending, secret, senders, append(forms, as)); ok {
			return facts, true
		}
	}
	return nil, false
}

// possibleAuthors returns the possible authors of a key's message: the people in the key, the
// sender and, in a private chat, both sides.
func (l *link) possibleAuthors(s types.MessageSource, key *waCommon.MessageKey) (authors []types.JID) {
	named := []types.JID{s.Sender}
	for _, text := range []string{key.GetParticipant(), key.GetRemoteJID()} {
		if jid, err := types.ParseJID(text); err == nil && !key.GetFromMe() {
			named = append([]types.JID{jid}, named...)
		}
	}
	for _, jid := range append(named, s.Chat, convert.WireJID(l.m.currentUser().JID)) {
		if convert.IsPerson(jid) {
			authors = append(authors, jid.ToNonAD())
		}
	}
	return authors
}

// bothForms returns the known numbers and LIDs of people.
func (l *link) bothForms(people ...types.JID) (forms []types.JID) {
	for _, jid := range people {
		if !convert.IsPerson(jid) {
			continue
		}
		jid = jid.ToNonAD()
		counterpart := l.cli.LIDOf
		if jid.Server == types.HiddenUserServer {
			counterpart = l.cli.NumberOf
		}
		forms = append(forms, jid)
		if other, err := counterpart(l.ctx, jid); err == nil && !other.IsEmpty() {
			forms = append(forms, other.ToNonAD())
		}
	}
	return forms
}

// groupChangeFacts also drops the record that the account may send to the group.
func (l *link) groupChangeFacts(e *events.GroupInfo) []bridge.Fact {
	if jid := convert.JID(e.JID); jid != "" {
		l.cli.ForgetGroup(jid)
	}
	pn, lid := l.m.own()
	return convert.GroupChangeFacts(e, pn, lid)
}
