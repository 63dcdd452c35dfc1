package wa

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// change is something that is sent about a stored message and has no row of its
// own: a reaction, an edit, a deletion. What is stored is the change of the
// message, after the network accepted it.
type change struct {
	name   string // what it is called
	target string // id of the message
	id     string // of the stanza
	msg    *waE2E.Message
	fact   func(taken bridge.Time) bridge.Fact
}

// isChange reports whether content is a change of a stored message.
func isChange(content bridge.Content) bool {
	switch content.(type) {
	case bridge.Reaction, bridge.TextEdit, bridge.Revocation:
		return true
	}
	return false
}

// change sends a change. An edit or a deletion binds its key before it leaves, so
// that a repeated call is the same stanza again; a reaction can be repeated
// as a new one.
func (m *Manager) change(ctx context.Context, l *link, to types.JID, chat bridge.JID, out bridge.Outgoing) (bridge.Sent, error) {
	began := time.Now()
	c, err := l.composeChange(ctx, to, chat, out)
	if err != nil {
		return bridge.Sent{}, err
	}
	if key := out.Key; key != nil {
		if key.MsgID != "" { // a repeated call
			c.id = key.MsgID
		}
		key.MsgID = c.id
	}
	if _, again := out.Content.(bridge.Reaction); !again && out.Key != nil {
		if err := m.store.Save(ctx, keyOf(*out.Key, chat, bridge.Time{})); err != nil {
			return bridge.Sent{}, err
		}
	}
	// Nobody acknowledges a change.
	at, err := m.deliver(ctx, &delivery{to: to, id: c.id, msg: c.msg, began: began, isOut: func() bool { return false }})
	if err != nil {
		return bridge.Sent{}, m.changeFailed(ctx, c, chat, err)
	}
	m.traffic.sent.Add(1)
	m.log.Info().Str("chat", chat.Redacted()).Str("msg_id", c.target).Msg(c.name + " sent")
	return bridge.Sent{ID: c.id, Chat: chat, Timestamp: bridge.At(at)}, m.changed(c, chat, bridge.At(at), out.Key)
}

// changed stores a change that the network accepted, with the key that a
// repeated call is answered from.
func (m *Manager) changed(c change, chat bridge.JID, at bridge.Time, key *bridge.SendKey) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.background), saveTimeout)
	defer cancel()
	facts := []bridge.Fact{c.fact(at)}
	if key != nil {
		facts = append(facts, keyOf(*key, chat, at))
	}
	err := m.store.Save(ctx, facts...)
	if err == nil {
		return nil
	}
	m.log.Error().Err(err).Str("msg_id", c.target).Msg(c.name + " sent, but not stored")
	return bridge.Fail(bridge.CodeStorageUnavailable, "the network took the %s, but it could not be stored: repeat the request, it cannot be doubled", c.name).Because(err)
}

// keyOf returns the key of a change as it is stored.
func keyOf(key bridge.SendKey, chat bridge.JID, taken bridge.Time) bridge.SendKey {
	key.Chat, key.TakenAt, key.At = chat, taken, bridge.Time{}
	return key
}

func (m *Manager) changeFailed(ctx context.Context, c change, chat bridge.JID, err error) error {
	var lost *unanswered
	switch {
	case errors.As(err, &lost) && isStopping(ctx):
		return shuttingDown(err)
	case errors.As(err, &lost) && !lost.left:
		return bridge.NotConnected("the connection was lost before the %s left: try again", c.name).Because(err)
	case errors.As(err, &lost):
		return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the %s in time: repeat the request, it cannot be doubled", c.name).Because(err)
	}
	m.traffic.failed.Add(1)
	return m.refusalOf(err, chat)
}

// composeChange makes a change in the form that the official clients use.
func (l *link) composeChange(ctx context.Context, to types.JID, chat bridge.JID, out bridge.Outgoing) (c change, err error) {
	defer l.m.recovered("composing", &err)
	switch content := out.Content.(type) {
	case bridge.Reaction:
		c, err = l.reactionChange(ctx, to, chat, content)
	case bridge.TextEdit:
		c, err = l.editChange(ctx, to, chat, content, out)
	case bridge.Revocation:
		c, err = l.revocationChange(ctx, to, chat, content)
	}
	c.id = l.cli.GenerateMessageID()
	return c, err
}

// reactionChange sets or takes off the account's reaction.
func (l *link) reactionChange(ctx context.Context, to types.JID, chat bridge.JID, r bridge.Reaction) (change, error) {
	msg, err := l.reactionMessage(ctx, to, chat, r)
	pn, _ := l.m.own()
	return change{name: "reaction", target: r.Target.ID, msg: msg, fact: func(bridge.Time) bridge.Fact {
		return bridge.ReactionChange{Chat: chat, Target: r.Target.ID, Sender: pn, Emoji: r.Emoji, Timestamp: bridge.At(time.Now())}
	}}, err
}

// revocationChange deletes a message for everybody. The key of somebody else's
// names its author.
func (l *link) revocationChange(ctx context.Context, to types.JID, chat bridge.JID, r bridge.Revocation) (change, error) {
	author := types.EmptyJID
	if !r.Target.FromMe {
		author = convert.WireJID(l.wireForm(ctx, chat, r.Target.SenderJID))
	}
	pn, _ := l.m.own()
	return change{name: "deletion", target: r.Target.ID, msg: l.cli.BuildRevoke(to, author, convert.OnWire(&r.Target)), fact: func(taken bridge.Time) bridge.Fact {
		return bridge.Deletion{Chat: chat, Target: r.Target.ID, By: pn, Timestamp: taken}
	}}, nil
}
