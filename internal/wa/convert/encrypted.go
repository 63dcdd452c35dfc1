package convert

import (
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// EncryptedPart is the part of a message that is encrypted with the secret of
// another one: votes, answers to events, some edits, and in the announcement groups
// of communities reactions and comments.
type EncryptedPart struct {
	Use         whatsmeow.MsgSecretType // "" for edits that are not understood
	Key         *waCommon.MessageKey    // of the message that has the secret
	iv, payload []byte
	sentAt      int64 // by the sender's clock, in milliseconds; 0 if unknown
}

// encryptedIn returns the encrypted part of an unwrapped message; not ok if it has none.
func encryptedIn(msg *waE2E.Message) (part EncryptedPart, ok bool) {
	reaction, comment, poll := msg.GetEncReactionMessage(), msg.GetEncCommentMessage(), msg.GetPollUpdateMessage()
	answer, edit := msg.GetEncEventResponseMessage(), msg.GetSecretEncryptedMessage()
	switch {
	case reaction != nil:
		return EncryptedPart{whatsmeow.EncSecretReaction, reaction.TargetMessageKey, reaction.EncIV, reaction.EncPayload, 0}, true
	case comment != nil:
		return EncryptedPart{whatsmeow.EncSecretComment, comment.TargetMessageKey, comment.EncIV, comment.EncPayload, 0}, true
	case poll != nil:
		return EncryptedPart{
			whatsmeow.EncSecretPollVote, poll.PollCreationMessageKey,
			poll.GetVote().GetEncIV(), poll.GetVote().GetEncPayload(), poll.GetSenderTimestampMS(),
		}, true
	case answer != nil:
		return EncryptedPart{whatsmeow.EncSecretEventResponse, answer.EventCreationMessageKey, answer.EncIV, answer.EncPayload, 0}, true
	case edit != nil:
		return EncryptedPart{editUses[edit.GetSecretEncType()], edit.TargetMessageKey, edit.EncIV, edit.EncPayload, 0}, true
	}
	return EncryptedPart{}, false
}

// editUses lists the kinds of encrypted edits that are understood.
var editUses = map[waE2E.SecretEncryptedMessage_SecretEncType]whatsmeow.MsgSecretType{
	waE2E.SecretEncryptedMessage_EVENT_EDIT:      whatsmeow.EncSecretEventEdit,
	waE2E.SecretEncryptedMessage_POLL_EDIT:       whatsmeow.EncSecretPollEdit,
	waE2E.SecretEncryptedMessage_POLL_ADD_OPTION: whatsmeow.EncSecretPollAddOption,
	waE2E.SecretEncryptedMessage_MESSAGE_EDIT:    whatsmeow.EncSecretMessageEdit,
}

// opener decrypts a part with the account's secrets of the message that the part is about. ok is
// false if no secret fits.
type opener func(pending bridge.Encrypted, part EncryptedPart) (facts []bridge.Fact, ok bool)

// encryptedFacts opens content that is encrypted with the secret of a message. Without that
// secret it is stored until the message comes; a comment leaves a placeholder.
func encryptedFacts(e *events.Message, s source, chat bridge.JID, msg *waE2E.Message, part EncryptedPart, open opener) []bridge.Fact {
	pending := bridge.Encrypted{
		Chat: chat, Target: ID(part.Key.GetID()), ID: ID(e.Info.ID), Sender: s.sender, FromMe: s.fromMe,
		PushName: e.Info.PushName, Timestamp: bridge.At(e.Info.Timestamp),
	}
	if facts, ok := open(pending, part); ok {
		return facts
	}
	pending.Payload = encoded(msg)
	if part.Use != whatsmeow.EncSecretComment {
		return []bridge.Fact{pending}
	}
	comment := bridge.Message{
		Chat: chat, ID: pending.ID, FromMe: s.fromMe, SenderJID: s.sender, PushName: pending.PushName,
		MessageType: bridge.TypeUndecryptable, Timestamp: pending.Timestamp, ContextInfo: commentContext(nil, part.Key),
	}
	return []bridge.Fact{comment, pending}
}

// OpenEncrypted opens pending content once the message with its secret is there. It returns nothing
// if the secret does not fit, or if the content cannot be read: the message must not be refused for
// that.
func OpenEncrypted(pending bridge.Encrypted, original bridge.Message, senders, authors []bridge.JID) (facts []bridge.Fact) {
	defer func() {
		if recover() != nil {
			facts = nil
		}
	}()
	msg := new(waE2E.Message)
	secret, err := Secret(original.Raw)
	if err != nil || proto.Unmarshal(pending.Payload, msg) != nil {
		return nil
	}
	inWA := func(people []bridge.JID) (forms []types.JID) {
		for _, jid := range people {
			forms = append(forms, WireJID(jid))
		}
		return forms
	}
	part, _ := encryptedIn(msg)
	facts, _ = part.Open(pending, secret, inWA(senders), inWA(authors))
	return facts
}

// Secret returns the secret of a stored message, which encrypts the parts of that message.
func Secret(raw []byte) ([]byte, error) {
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(raw, msg); err != nil {
		return nil, err
	}
	return unwrap(msg).msg.GetMessageContextInfo().GetMessageSecret(), nil
}

// Open decrypts the part. ok is false if the secret is missing or does not fit. The key contains the
// sender and the author, each by phone number or LID; Open tries all combinations.
func (p EncryptedPart) Open(pending bridge.Encrypted, secret []byte, senders, authors []types.JID) (facts []bridge.Fact, ok bool) {
	if len(secret) == 0 || p.Use == "" {
		return nil, false
	}
	uses := []whatsmeow.MsgSecretType{p.Use}
	if p.Use == whatsmeow.EncSecretPollAddOption {
		uses = append(uses, whatsmeow.EncSecretPollEdit) // as whatsmeow has it
	}
	for _, author := range authors {
		for _, sender := range senders {
			for _, use := range uses {
				if plain, err := openSecret(p, use, secret, sender, author); err == nil {
					return p.facts(pending, plain), true
				}
			}
		}
	}
	return nil, false
}

// facts reads the decrypted content. It returns nothing if the content is malformed.
func (p EncryptedPart) facts(pending bridge.Encrypted, plain []byte) []bridge.Fact {
	s := source{sender: pending.Sender, fromMe: pending.FromMe}
	chat, target, at := pending.Chat, p.Key.GetID(), pending.Timestamp
	vote, response, reaction, msg := new(waE2E.PollVoteMessage), new(waE2E.EventResponseMessage), new(waE2E.ReactionMessage), new(waE2E.Message)
	contents := map[whatsmeow.MsgSecretType]proto.Message{
		whatsmeow.EncSecretPollVote: vote, whatsmeow.EncSecretEventResponse: response, whatsmeow.EncSecretReaction: reaction,
	}
	content, ok := contents[p.Use]
	if !ok {
		content = msg
	}
	if proto.Unmarshal(plain, content) != nil {
		return nil
	}
	switch p.Use {
	case whatsmeow.EncSecretPollVote:
		return []bridge.Fact{bridge.PollVote{
			Chat: chat, Target: pending.Target, Voter: s.sender, Hashes: vote.GetSelectedOptions(), Timestamp: claimed(p.sentAt, at),
		}}
	case whatsmeow.EncSecretEventResponse:
		return []bridge.Fact{responseFact(response, chat, pending.Target, s.sender, at)}
	case whatsmeow.EncSecretReaction:
		reaction.Key = p.Key
		return reactionFacts(reaction, s, chat, at)
	case whatsmeow.EncSecretComment:
		return commentFacts(msg, p.Key, s, pending)
	}
	inner := unwrap(msg).msg
	if add := inner.GetPollAddOptionMessage(); add != nil {
		return optionFacts(add.GetAddOption(), s, chat, target, at)
	}
	if p.Use == whatsmeow.EncSecretPollAddOption { // a whole poll: the store ignores the options that the poll already has
		options := pollCreation(inner).GetOptions()
		var facts []bridge.Fact
		for _, option := range options[:min(len(options), bridge.MaxPollOptions)] {
			facts = append(facts, optionFacts(option, s, chat, target, at)...)
		}
		return facts
	}
	if protocol := inner.GetProtocolMessage(); protocol != nil {
		return protocolFacts(protocol, s, chat, at)
	}
	return editFacts(msg, s, chat, target, at)
}

// commentFacts returns a comment on a message as a message that quotes it, as the apps show it.
func commentFacts(msg *waE2E.Message, on *waCommon.MessageKey, s source, pending bridge.Encrypted) []bridge.Fact {
	if comment := unwrap(msg).msg.GetCommentMessage(); comment != nil {
		msg = comment.GetMessage()
	}
	if !Shows(msg) {
		return nil
	}
	message := describe(msg, s, pending.Chat, pending.ID, pending.Timestamp)
	message.PushName, message.ContextInfo, message.Quoted = pending.PushName, commentContext(message.ContextInfo, on), nil
	return []bridge.Fact{message}
}

// commentContext adds the message that a comment is on to its references.
func commentContext(context *bridge.ContextInfo, on *waCommon.MessageKey) *bridge.ContextInfo {
	quoted := bridge.ContextInfo{MentionedJID: []bridge.JID{}}
	if context != nil {
		quoted = *context
	}
	if id := ID(on.GetID()); id != "" {
		quoted.QuotedMsgID, quoted.QuotedSenderJID = &id, ParseJID(on.GetParticipant())
	}
	return &quoted
}

// openSecret decrypts a part that a sender encrypted with the secret of a message
// by an author, each in one of their forms. whatsmeow's own methods try the forms
// of the author alone, and ask its store for the secret.
func openSecret(p EncryptedPart, use whatsmeow.MsgSecretType, secret []byte, sender, author types.JID) ([]byte, error) {
	id, by := p.Key.GetID(), sender.ToNonAD().String()
	info := id + author.ToNonAD().String() + by + string(use)
	var additional []byte
	switch use {
	case whatsmeow.EncSecretPollVote, whatsmeow.EncSecretEventResponse:
		additional = fmt.Appendf(nil, "%s\x00%s", id, by)
	}
	return opened(func() ([]byte, error) {
		return gcmutil.Decrypt(hkdfutil.SHA256(secret, nil, []byte(info), 32), p.iv, p.payload, additional)
	})
}

// opened runs one of whatsmeow's decryptions, which panic at a nonce of another length
// and at missing fields; that becomes an error.
func opened[T any](decrypt func() (T, error)) (content T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	return decrypt()
}
