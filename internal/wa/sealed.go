package wa

import (
	"slices"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// sealedPart is the part of a message that is encrypted with the secret of
// another one: votes, answers to events, some edits, and in the announcement groups
// of communities reactions and comments.
type sealedPart struct {
	use         whatsmeow.MsgSecretType
	alternative whatsmeow.MsgSecretType // what others call the same use; empty for most
	key         *waCommon.MessageKey    // of the message that has the secret
	iv, payload []byte
	sentAt      int64 // by the sender's clock, in milliseconds; 0 if it is not told
}

// sealedOf returns the sealed part of an unwrapped message; not ok if it has none.
func sealedOf(msg *waE2E.Message) (part sealedPart, ok bool) {
	switch {
	case msg.GetEncReactionMessage() != nil:
		r := msg.GetEncReactionMessage()
		return sealedPart{use: whatsmeow.EncSecretReaction, key: r.GetTargetMessageKey(), iv: r.GetEncIV(), payload: r.GetEncPayload()}, true
	case msg.GetEncCommentMessage() != nil:
		c := msg.GetEncCommentMessage()
		return sealedPart{use: whatsmeow.EncSecretComment, key: c.GetTargetMessageKey(), iv: c.GetEncIV(), payload: c.GetEncPayload()}, true
	case msg.GetPollUpdateMessage() != nil:
		u := msg.GetPollUpdateMessage()
		return sealedPart{use: whatsmeow.EncSecretPollVote, key: u.GetPollCreationMessageKey(), iv: u.GetVote().GetEncIV(),
			payload: u.GetVote().GetEncPayload(), sentAt: u.GetSenderTimestampMS()}, true
	case msg.GetEncEventResponseMessage() != nil:
		r := msg.GetEncEventResponseMessage()
		return sealedPart{use: whatsmeow.EncSecretEventResponse, key: r.GetEventCreationMessageKey(), iv: r.GetEncIV(), payload: r.GetEncPayload()}, true
	case msg.GetSecretEncryptedMessage() != nil:
		e := msg.GetSecretEncryptedMessage()
		part := sealedPart{use: editUses[e.GetSecretEncType()], key: e.GetTargetMessageKey(), iv: e.GetEncIV(), payload: e.GetEncPayload()}
		if part.use == whatsmeow.EncSecretPollAddOption {
			part.alternative = whatsmeow.EncSecretPollEdit // as whatsmeow has it
		}
		return part, true
	}
	return sealedPart{}, false
}

// editUses are the kinds of encrypted edits that are understood.
var editUses = map[waE2E.SecretEncryptedMessage_SecretEncType]whatsmeow.MsgSecretType{
	waE2E.SecretEncryptedMessage_EVENT_EDIT:      whatsmeow.EncSecretEventEdit,
	waE2E.SecretEncryptedMessage_POLL_EDIT:       whatsmeow.EncSecretPollEdit,
	waE2E.SecretEncryptedMessage_POLL_ADD_OPTION: whatsmeow.EncSecretPollAddOption,
	waE2E.SecretEncryptedMessage_MESSAGE_EDIT:    whatsmeow.EncSecretMessageEdit,
}

// sealedFacts opens what is sealed with the secret of a message. Where that is not
// known yet, it waits in the store for the message; a comment shows that there
// is one.
func (l *link) sealedFacts(e *events.Message, s source, chat bridge.JID, msg *waE2E.Message, part sealedPart) []bridge.Fact {
	sealed := bridge.Sealed{Chat: chat, Target: idOf(part.key.GetID()), ID: idOf(e.Info.ID), Sender: s.sender, FromMe: s.fromMe,
		PushName: e.Info.PushName, Timestamp: bridge.At(e.Info.Timestamp)}
	if facts, ok := l.openWithKnownSecret(e, sealed, part); ok {
		return facts
	}
	l.m.log.Debug().Str("msg_id", sealed.ID).Str("use", string(part.use)).Msg("the secret is not known yet")
	encoded, err := proto.Marshal(msg)
	if err != nil {
		return nil // cannot happen: it was decoded a moment ago
	}
	sealed.Payload = encoded
	if part.use != whatsmeow.EncSecretComment {
		return []bridge.Fact{sealed}
	}
	comment := bridge.Message{Chat: chat, ID: sealed.ID, FromMe: s.fromMe, SenderJID: s.sender, PushName: sealed.PushName,
		MessageType: bridge.TypeUndecryptable, Timestamp: sealed.Timestamp, ContextInfo: commentContext(nil, part.key)}
	return []bridge.Fact{comment, sealed}
}

// openWithKnownSecret tries the secrets that whatsmeow keeps, of whoever may have
// written the message: the key names its author from the sender's point of view,
// by number or by LID.
func (l *link) openWithKnownSecret(e *events.Message, sealed bridge.Sealed, part sealedPart) ([]bridge.Fact, bool) {
	senders := l.bothForms(e.Info.Sender, e.Info.SenderAlt)
	var tried []types.JID
	for _, author := range l.possibleAuthors(e.Info.MessageSource, part.key) {
		if slices.Contains(tried, author) {
			continue
		}
		forms := l.bothForms(author)
		tried = append(tried, forms...)
		secret, as, err := l.stores.secrets.GetMessageSecret(l.ctx, e.Info.Chat, author, part.key.GetID())
		if err != nil {
			l.m.log.Warn().Str("msg_id", sealed.ID).Str("error", bridge.Redact(err.Error())).Msg("message secret not read")
		}
		if facts, ok := part.open(sealed, secret, senders, append(forms, as)); ok {
			return facts, true
		}
	}
	return nil, false
}

// possibleAuthors returns who may have written the message of a key: whom the key
// names, the sender, and in a private chat either side.
func (l *link) possibleAuthors(s types.MessageSource, key *waCommon.MessageKey) (authors []types.JID) {
	pn, _ := l.m.own()
	named := []types.JID{s.Sender}
	for _, text := range []string{key.GetParticipant(), key.GetRemoteJID()} {
		if jid, err := types.ParseJID(text); err == nil && !key.GetFromMe() {
			named = append([]types.JID{jid}, named...)
		}
	}
	for _, jid := range append(named, s.Chat, toWA(pn)) {
		if isPerson(jid) {
			authors = append(authors, jid.ToNonAD())
		}
	}
	return authors
}

func isPerson(jid types.JID) bool {
	return jid.User != "" && (jid.Server == types.DefaultUserServer || jid.Server == types.HiddenUserServer)
}

// bothForms returns people's numbers and LIDs as far as they are known.
func (l *link) bothForms(people ...types.JID) (forms []types.JID) {
	for _, jid := range people {
		if !isPerson(jid) {
			continue
		}
		jid = jid.ToNonAD()
		counterpart := l.stores.lids.GetLIDForPN
		if jid.Server == types.HiddenUserServer {
			counterpart = l.stores.lids.GetPNForLID
		}
		forms = append(forms, jid)
		if other, err := counterpart(l.ctx, jid); err == nil && !other.IsEmpty() {
			forms = append(forms, other.ToNonAD())
		}
	}
	return forms
}

// OpenSealed opens what has waited in the store for the message whose secret it
// is sealed with. It returns nothing where the secret does not fit. What cannot be
// read is nothing, too: the message that it waits for must not be refused.
func OpenSealed(sealed bridge.Sealed, original bridge.Message, senders, authors []bridge.JID) (facts []bridge.Fact) {
	defer func() {
		if recover() != nil {
			facts = nil
		}
	}()
	msg, with := new(waE2E.Message), new(waE2E.Message)
	if proto.Unmarshal(sealed.Payload, msg) != nil || proto.Unmarshal(original.Raw, with) != nil {
		return nil
	}
	part, ok := sealedOf(msg)
	if !ok {
		return nil
	}
	facts, _ = part.open(sealed, unwrap(with).msg.GetMessageContextInfo().GetMessageSecret(), inWA(senders), inWA(authors))
	return facts
}

func inWA(people []bridge.JID) (forms []types.JID) {
	for _, jid := range people {
		forms = append(forms, toWA(jid))
	}
	return forms
}
