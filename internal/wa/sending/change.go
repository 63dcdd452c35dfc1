package sending

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// change is a reaction, an edit, a deletion, a pin or a vote, which change a stored message, or the timer of a chat. It has no row
// in the store; its effect is stored after the network has accepted it.
type change struct {
	name   string // in error sentences and logs, such as "reaction"
	target string // id of the message
	id     string // id of the stanza
	msg    *waE2E.Message
	fact   func(taken bridge.Time) bridge.Fact
}

// isChange reports whether content is a change of a stored message.
func isChange(content bridge.Content) bool {
	switch content.(type) {
	case bridge.Reaction, bridge.TextEdit, bridge.Revocation, bridge.MessagePin, bridge.Vote, bridge.TimerChange:
		return true
	}
	return false
}

// change sends a change. The key of an edit or a deletion is stored before the change is sent, so
// that a repeated call sends the same stanza again. A repeated reaction is a new stanza with the same effect.
func (s *Sender) change(ctx context.Context, c *Client, to types.JID, chat bridge.JID, out bridge.Outgoing) (bridge.Sent, error) {
	began := time.Now()
	made, err := c.composeChange(ctx, to, chat, out)
	if err != nil {
		return bridge.Sent{}, err
	}
	if key := out.Key; key != nil {
		if key.MsgID != "" { // a repeated call
			made.id = key.MsgID
		}
		key.MsgID = made.id
	}
	if _, again := out.Content.(bridge.Reaction); !again && out.Key != nil {
		if err := s.o.Store.Save(ctx, keyOf(*out.Key, chat, bridge.Time{})); err != nil {
			return bridge.Sent{}, err
		}
	}
	// Changes get no delivery receipts.
	at, err := s.deliver(ctx, &delivery{to: to, id: made.id, msg: made.msg, began: began, isOut: func() bool { return false }})
	if err != nil {
		return bridge.Sent{}, s.changeFailed(ctx, made, chat, err)
	}
	s.sent.Add(1)
	s.o.Log.Info().Str("chat", chat.Redacted()).Str("msg_id", made.target).Msg(made.name + " sent")
	return bridge.Sent{ID: made.id, Chat: chat, Timestamp: bridge.At(at)}, s.changed(made, chat, bridge.At(at), out.Key)
}

// changed stores an accepted change and its key.
func (s *Sender) changed(made change, chat bridge.JID, at bridge.Time, key *bridge.SendKey) error {
	facts := []bridge.Fact{made.fact(at)}
	if key != nil {
		facts = append(facts, keyOf(*key, chat, at))
	}
	err := s.save(facts...)
	if err == nil {
		return nil
	}
	s.o.Log.Error().Err(err).Str("msg_id", made.target).Msg(made.name + " was sent, but cannot be stored")
	return bridge.Fail(bridge.CodeStorageUnavailable, "the network accepted the %s, but bridged could not store it: repeat the request; it takes effect only once", made.name).Because(err)
}

func keyOf(key bridge.SendKey, chat bridge.JID, taken bridge.Time) bridge.SendKey {
	key.Chat, key.TakenAt, key.At = chat, taken, bridge.Time{}
	return key
}

func (s *Sender) changeFailed(ctx context.Context, made change, chat bridge.JID, err error) error {
	var lost *unanswered
	switch {
	case errors.As(err, &lost) && isStopping(ctx):
		return shuttingDown(err)
	case errors.As(err, &lost) && !lost.maySent:
		return bridge.NotConnected("the connection was lost before the %s was sent: try again", made.name).Because(err)
	case errors.As(err, &lost):
		return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the %s in time: repeat the request; it takes effect only once", made.name).Because(err)
	}
	s.failed.Add(1)
	return s.RefusalOf(err, chat)
}

func (c *Client) composeChange(ctx context.Context, to types.JID, chat bridge.JID, out bridge.Outgoing) (made change, err error) {
	defer c.s.recovered("composing", &err)
	switch content := out.Content.(type) {
	case bridge.Reaction:
		made, err = c.reactionChange(ctx, to, chat, content)
	case bridge.TextEdit:
		made, err = c.editChange(ctx, to, chat, content, out)
	case bridge.Revocation:
		made, err = c.revocationChange(ctx, to, chat, content)
	case bridge.MessagePin:
		made = c.pinChange(ctx, to, chat, content)
	case bridge.TimerChange:
		made = timerChange(chat, content.Seconds)
	case bridge.Vote:
		made, err = c.voteChange(ctx, to, chat, content)
	}
	made.id = c.GenerateMessageID()
	return made, err
}

// reactionChange returns the change that sets or removes the account's reaction.
func (c *Client) reactionChange(ctx context.Context, to types.JID, chat bridge.JID, r bridge.Reaction) (change, error) {
	msg, err := c.reactionMessage(ctx, to, chat, r)
	pn, _ := c.s.o.Own()
	return change{name: "reaction", target: r.Target.ID, msg: msg, fact: func(bridge.Time) bridge.Fact {
		return bridge.ReactionChange{Chat: chat, Target: r.Target.ID, Sender: pn, Emoji: r.Emoji, Timestamp: bridge.At(time.Now())}
	}}, err
}

// revocationChange returns the change that deletes a message for everybody. The key of another
// person's message names its author.
func (c *Client) revocationChange(ctx context.Context, to types.JID, chat bridge.JID, r bridge.Revocation) (change, error) {
	author := types.EmptyJID
	if !r.Target.FromMe {
		author = convert.WireJID(c.wireForm(ctx, chat, r.Target.SenderJID))
	}
	pn, _ := c.s.o.Own()
	return change{name: "deletion", target: r.Target.ID, msg: c.BuildRevoke(to, author, convert.OnWire(&r.Target)), fact: func(taken bridge.Time) bridge.Fact {
		return bridge.Deletion{Chat: chat, Target: r.Target.ID, By: pn, Timestamp: taken}
	}}, nil
}

// pinChange returns the change that pins a message or unpins it.
func (c *Client) pinChange(ctx context.Context, to types.JID, chat bridge.JID, p bridge.MessagePin) change {
	key := c.BuildMessageKey(to, convert.WireJID(c.wireForm(ctx, chat, p.Target.SenderJID)), convert.OnWire(&p.Target))
	msg, name := convert.PinMessage(key, p.Length, time.Now()), "pin"
	if p.Length == 0 {
		name = "end of a pin"
	}
	pn, _ := c.s.o.Own()
	return change{name: name, target: p.Target.ID, msg: msg, fact: func(taken bridge.Time) bridge.Fact {
		return convert.OwnPin(pn, chat, msg, taken)
	}}
}

// timerChange returns the change of a private chat's timer.
func timerChange(chat bridge.JID, seconds uint32) change {
	at := time.Now().Truncate(time.Second) // as in the message
	return change{name: "timer", msg: convert.TimerMessage(seconds, at), fact: func(bridge.Time) bridge.Fact {
		return bridge.ChatTimer{Chat: chat, Seconds: seconds, SetAt: bridge.At(at)}
	}}
}

// reactionMessage returns a reaction in the form that the chat accepts.
func (c *Client) reactionMessage(ctx context.Context, to types.JID, chat bridge.JID, r bridge.Reaction) (*waE2E.Message, error) {
	sender := convert.WireJID(c.wireForm(ctx, chat, r.Target.SenderJID))
	msg := c.BuildReaction(to, sender, convert.OnWire(&r.Target), r.Emoji)
	if known, _ := c.groups.Load(chat); known == nil || !known.(knownGroup).isAnnouncement {
		return msg, nil
	}
	var encrypted *waE2E.EncReactionMessage
	err := c.encryptAbout(ctx, to, chat, r.Target, func(about *types.MessageInfo) (err error) {
		encrypted, err = c.EncryptReaction(ctx, about, proto.Clone(msg.GetReactionMessage()).(*waE2E.ReactionMessage))
		return err
	})
	if errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return nil, bridge.Invalid("the key of that message is not known, and its group accepts only encrypted reactions").Because(err)
	}
	if err != nil {
		return nil, err
	}
	return &waE2E.Message{EncReactionMessage: encrypted}, nil
}

// voteChange returns the change that replaces the account's vote in a poll.
func (c *Client) voteChange(ctx context.Context, to types.JID, chat bridge.JID, v bridge.Vote) (change, error) {
	var msg *waE2E.Message
	err := c.encryptAbout(ctx, to, chat, v.Target, func(about *types.MessageInfo) (err error) {
		msg, err = c.BuildPollVote(ctx, about, v.Options)
		return err
	})
	if errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return change{}, bridge.Invalid("the key of that poll is not known, and votes are encrypted with it: vote on the phone").Because(err)
	}
	if err != nil {
		return change{}, err
	}
	pn, _ := c.s.o.Own()
	vote := bridge.PollVote{
		Chat: chat, Target: v.Target.ID, Voter: pn, Hashes: whatsmeow.HashPollOptions(v.Options),
		Timestamp: bridge.Millis(msg.GetPollUpdateMessage().GetSenderTimestampMS()),
	}
	return change{name: "vote", target: v.Target.ID, msg: msg, fact: func(bridge.Time) bridge.Fact { return vote }}, nil
}

// encryptAbout calls encrypt, which needs the secret of a stored message. If session.db has deleted
// the secret (see [session.DB.KeepClean]), it is read from the store.
func (c *Client) encryptAbout(ctx context.Context, to types.JID, chat bridge.JID, target bridge.Message, encrypt func(*types.MessageInfo) error) error {
	sender := convert.WireJID(c.wireForm(ctx, chat, target.SenderJID))
	about := &types.MessageInfo{ID: convert.OnWire(&target), MessageSource: types.MessageSource{Chat: to, Sender: sender, IsFromMe: target.FromMe, IsGroup: chat.IsGroup()}}
	err := encrypt(about)
	if !errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return err
	}
	secret, unread := convert.Secret(target.Raw)
	if unread != nil || len(secret) == 0 {
		return errors.Join(err, unread)
	}
	if err := c.PutMessageSecret(ctx, about.Chat, about.Sender, about.ID, secret); err != nil {
		return err
	}
	return encrypt(about)
}
