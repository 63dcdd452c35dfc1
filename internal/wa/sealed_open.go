package wa

import (
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// open decrypts the part and returns what it says; not ok where the secret is none
// or does not fit. Which of their two forms the sender and the author had when
// it was encrypted does not show: all are tried.
func (p sealedPart) open(sealed bridge.Sealed, secret []byte, senders, authors []types.JID) (facts []bridge.Fact, ok bool) {
	if len(secret) == 0 || p.use == "" {
		return nil, false
	}
	for _, author := range authors {
		for _, sender := range senders {
			for _, use := range []whatsmeow.MsgSecretType{p.use, p.alternative} {
				if use == "" {
					continue
				}
				if plain, err := openSecret(p, use, secret, sender, author); err == nil {
					return p.facts(sealed, plain), true
				}
			}
		}
	}
	return nil, false
}

// facts reads what was sealed. What cannot be read says nothing.
func (p sealedPart) facts(sealed bridge.Sealed, plain []byte) []bridge.Fact {
	s := source{sender: sealed.Sender, fromMe: sealed.FromMe}
	switch p.use {
	case whatsmeow.EncSecretPollVote:
		vote := new(waE2E.PollVoteMessage)
		if proto.Unmarshal(plain, vote) != nil {
			return nil
		}
		return []bridge.Fact{bridge.PollVote{Chat: sealed.Chat, Target: sealed.Target, Voter: sealed.Sender,
			Hashes: vote.GetSelectedOptions(), Timestamp: claimed(p.sentAt, sealed.Timestamp)}}
	case whatsmeow.EncSecretEventResponse:
		response := new(waE2E.EventResponseMessage)
		if proto.Unmarshal(plain, response) != nil {
			return nil
		}
		return []bridge.Fact{responseFact(response, sealed.Chat, sealed.Target, sealed.Sender, sealed.Timestamp)}
	case whatsmeow.EncSecretReaction:
		reaction := new(waE2E.ReactionMessage)
		if proto.Unmarshal(plain, reaction) != nil {
			return nil
		}
		reaction.Key = p.key
		return reactionFacts(reaction, s, sealed.Chat, sealed.Timestamp)
	}
	msg := new(waE2E.Message)
	if proto.Unmarshal(plain, msg) != nil {
		return nil
	}
	if p.use == whatsmeow.EncSecretComment {
		return commentFacts(msg, p.key, s, sealed)
	}
	if add := unwrap(msg).msg.GetPollAddOptionMessage(); add != nil {
		return optionFacts(add, s, sealed.Chat, p.key.GetID(), sealed.Timestamp)
	}
	if p.use == whatsmeow.EncSecretPollAddOption {
		return addedOptions(pollCreation(unwrap(msg).msg), s, sealed.Chat, p.key.GetID(), sealed.Timestamp)
	}
	if protocol := unwrap(msg).msg.GetProtocolMessage(); protocol != nil {
		return protocolFacts(protocol, s, sealed.Chat, sealed.Timestamp)
	}
	return editFacts(msg, s, sealed.Chat, p.key.GetID(), sealed.Timestamp)
}

// commentFacts returns a comment on a message as a message that quotes it: the apps
// show it below the one it is about.
func commentFacts(msg *waE2E.Message, on *waCommon.MessageKey, s source, sealed bridge.Sealed) []bridge.Fact {
	if comment := unwrap(msg).msg.GetCommentMessage(); comment != nil {
		msg = comment.GetMessage()
	}
	if msg == nil || !shows(unwrap(msg).msg) {
		return nil
	}
	message := describe(msg, s, sealed.Chat, sealed.ID, sealed.Timestamp)
	message.PushName, message.ContextInfo = sealed.PushName, commentContext(message.ContextInfo, on)
	return []bridge.Fact{message}
}

// commentContext adds the message that a comment is on to what it refers to.
func commentContext(context *bridge.ContextInfo, on *waCommon.MessageKey) *bridge.ContextInfo {
	quoted := bridge.ContextInfo{MentionedJID: []bridge.JID{}}
	if context != nil {
		quoted = *context
	}
	if id := idOf(on.GetID()); id != "" {
		quoted.QuotedMsgID, quoted.QuotedSenderJID = &id, parseToBridge(on.GetParticipant())
	}
	return &quoted
}
