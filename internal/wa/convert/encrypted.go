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
	Use         whatsmeow.MsgSecretType
	alternative whatsmeow.MsgSecretType // what others call the same use; empty for most
	Key         *waCommon.MessageKey    // of the message that has the secret
	iv, payload []byte
	sentAt      int64 // by the sender's clock, in milliseconds; 0 if it is not told
}

// encryptedIn returns the encrypted part of an unwrapped message; not ok if it has none.
func encryptedIn(msg *waE2E.Message) (part EncryptedPart, ok bool) {
	reaction, comment, poll := msg.GetEncReactionMessage(), msg.GetEncCommentMessage(), msg.GetPollUpdateMessage()
	answer, edit := msg.GetEncEventResponseMessage(), msg.GetSecretEncryptedMessage()
	switch {
	case reaction != nil:
		part = encryptedPart(whatsmeow.EncSecretReaction, reaction.GetTargetMessageKey(), reaction)
	case comment != nil:
		part = encryptedPart(whatsmeow.EncSecretComment, comment.GetTargetMessageKey(), comment)
	case poll != nil:
		part = encryptedPart(whatsmeow.EncSecretPollVote, poll.GetPollCreationMessageKey(), poll.GetVote())
		part.sentAt = poll.GetSenderTimestampMS()
	case answer != nil:
		part = encryptedPart(whatsmeow.EncSecretEventResponse, answer.GetEventCreationMessageKey(), answer)
	case edit != nil:
		part = encryptedPart(editUses[edit.GetSecretEncType()], edit.GetTargetMessageKey(), edit)
		if part.Use == whatsmeow.EncSecretPollAddOption {
			part.alternative = whatsmeow.EncSecretPollEdit // as whatsmeow has it
		}
	default:
		return EncryptedPart{}, false
	}
	return part, true
}

func encryptedPart(use whatsmeow.MsgSecretType, key *waCommon.MessageKey, encrypted interface {
	GetEncIV() []byte
	GetEncPayload() []byte
},
) EncryptedPart {
	return EncryptedPart{Use: use, Key: key, iv: encrypted.GetEncIV(), payload: encrypted.GetEncPayload()}
}

// editUses are the kinds of encrypted edits that are understood.
var editUses = map[waE2E.SecretEncryptedMessage_SecretEncType]whatsmeow.MsgSecretType{
	waE2E.SecretEncryptedMessage_EVENT_EDIT:      whatsmeow.EncSecretEventEdit,
	waE2E.SecretEncryptedMessage_POLL_EDIT:       whatsmeow.EncSecretPollEdit,
	waE2E.SecretEncryptedMessage_POLL_ADD_OPTION: whatsmeow.EncSecretPollAddOption,
	waE2E.SecretEncryptedMessage_MESSAGE_EDIT:    whatsmeow.EncSecretMessageEdit,
}

// opener decrypts a part with the secrets that the account has of the message that
// it is about; not ok where none of them fits.
type opener func(pending bridge.Encrypted, part EncryptedPart) (facts []bridge.Fact, ok bool)

// encryptedFacts opens what is encrypted with the secret of a message. Where that is not
// known yet, it waits in the store for the message; a comment shows that there
// is one.
func encryptedFacts(e *events.Message, s source, chat bridge.JID, msg *waE2E.Message, part EncryptedPart, open opener) []bridge.Fact {
	pending := bridge.Encrypted{
		Chat: chat, Target: ID(part.Key.GetID()), ID: ID(e.Info.ID), Sender: s.sender, FromMe: s.fromMe,
		PushName: e.Info.PushName, Timestamp: bridge.At(e.Info.Timestamp),
	}
	if facts, ok := open(pending, part); ok {
		return facts
	}
	encoded, err := proto.Marshal(msg)
	if err != nil {
		return nil // cannot happen: it was decoded a moment ago
	}
	pending.Payload = encoded
	if part.Use != whatsmeow.EncSecretComment {
		return []bridge.Fact{pending}
	}
	comment := bridge.Message{
		Chat: chat, ID: pending.ID, FromMe: s.fromMe, SenderJID: s.sender, PushName: pending.PushName,
		MessageType: bridge.TypeUndecryptable, Timestamp: pending.Timestamp, ContextInfo: commentContext(nil, part.Key),
	}
	return []bridge.Fact{comment, pending}
}

// OpenEncrypted opens what has waited in the store for the message whose secret it
// is encrypted with. It returns nothing where the secret does not fit. What cannot be
// read is nothing, too: the message that it waits for must not be refused.
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
	part, ok := encryptedIn(msg)
	if !ok {
		return nil
	}
	facts, _ = part.Open(pending, secret, inWA(senders), inWA(authors))
	return facts
}

// Secret returns the secret of a stored message, by which others are encrypted.
func Secret(raw []byte) ([]byte, error) {
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(raw, msg); err != nil {
		return nil, err
	}
	return unwrap(msg).msg.GetMessageContextInfo().GetMessageSecret(), nil
}

func inWA(people []bridge.JID) (forms []types.JID) {
	for _, jid := range people {
		forms = append(forms, WireJID(jid))
	}
	return forms
}

// Open decrypts the part and returns what it says; not ok where the secret is none
// or does not fit. Which of their two forms the sender and the author had when
// it was encrypted does not show: all are tried.
func (p EncryptedPart) Open(pending bridge.Encrypted, secret []byte, senders, authors []types.JID) (facts []bridge.Fact, ok bool) {
	if len(secret) == 0 || p.Use == "" {
		return nil, false
	}
	for _, author := range authors {
		for _, sender := range senders {
			for _, use := range []whatsmeow.MsgSecretType{p.Use, p.alternative} {
				if use == "" {
					continue
				}
				if plain, err := openSecret(p, use, secret, sender, author); err == nil {
					return p.facts(pending, plain), true
				}
			}
		}
	}
	return nil, false
}

// facts reads what was encrypted. What cannot be read says nothing.
func (p EncryptedPart) facts(pending bridge.Encrypted, plain []byte) []bridge.Fact {
	s := source{sender: pending.Sender, fromMe: pending.FromMe}
	switch p.Use {
	case whatsmeow.EncSecretPollVote:
		if vote := new(waE2E.PollVoteMessage); proto.Unmarshal(plain, vote) == nil {
			return []bridge.Fact{bridge.PollVote{
				Chat: pending.Chat, Target: pending.Target, Voter: pending.Sender,
				Hashes: vote.GetSelectedOptions(), Timestamp: claimed(p.sentAt, pending.Timestamp),
			}}
		}
		return nil
	case whatsmeow.EncSecretEventResponse:
		if response := new(waE2E.EventResponseMessage); proto.Unmarshal(plain, response) == nil {
			return []bridge.Fact{responseFact(response, pending.Chat, pending.Target, pending.Sender, pending.Timestamp)}
		}
		return nil
	case whatsmeow.EncSecretReaction:
		reaction := new(waE2E.ReactionMessage)
		if proto.Unmarshal(plain, reaction) != nil {
			return nil
		}
		reaction.Key = p.Key
		return reactionFacts(reaction, s, pending.Chat, pending.Timestamp)
	}
	msg := new(waE2E.Message)
	if proto.Unmarshal(plain, msg) != nil {
		return nil
	}
	content := unwrap(msg).msg
	switch add, protocol := content.GetPollAddOptionMessage(), content.GetProtocolMessage(); {
	case p.Use == whatsmeow.EncSecretComment:
		return commentFacts(msg, p.Key, s, pending)
	case add != nil:
		return optionFacts(add, s, pending.Chat, p.Key.GetID(), pending.Timestamp)
	case p.Use == whatsmeow.EncSecretPollAddOption:
		return addedOptions(pollCreation(content), s, pending.Chat, p.Key.GetID(), pending.Timestamp)
	case protocol != nil:
		return protocolFacts(protocol, s, pending.Chat, pending.Timestamp)
	}
	return editFacts(msg, s, pending.Chat, p.Key.GetID(), pending.Timestamp)
}

// commentFacts returns a comment on a message as a message that quotes it: the apps
// show it below the one it is about.
func commentFacts(msg *waE2E.Message, on *waCommon.MessageKey, s source, pending bridge.Encrypted) []bridge.Fact {
	if comment := unwrap(msg).msg.GetCommentMessage(); comment != nil {
		msg = comment.GetMessage()
	}
	if msg == nil || !Shows(msg) {
		return nil
	}
	message := describe(msg, s, pending.Chat, pending.ID, pending.Timestamp)
	message.PushName, message.ContextInfo = pending.PushName, commentContext(message.ContextInfo, on)
	return []bridge.Fact{message}
}

// commentContext adds the message that a comment is on to what it refers to.
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

// opened runs one of whatsmeow's decryptions of what a sender encrypted. They panic at a nonce of another length and at fields that
// are missing; here that is an error like any other.
func opened[T any](decrypt func() (T, error)) (content T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	return decrypt()
}
