package wa

import (
	"context"
	"errors"
	"time"

	"bridged/internal/bridge"
)

// react sends a reaction. It is no message of its own: what is stored is the
// change of the one it names, after the network accepted it.
func (m *Manager) react(ctx context.Context, l *link, d *delivery, chat bridge.JID, r bridge.Reaction, key *bridge.SendKey) (_ bridge.Sent, err error) {
	if d.msg, err = l.reactionMessage(ctx, d.to, chat, r); err != nil {
		return bridge.Sent{}, err
	}
	d.id = l.cli.GenerateMessageID()
	d.isOut = func() bool { return false } // nobody acknowledges a reaction
	at, err := m.deliver(ctx, d)
	var lost *unanswered
	switch {
	case err == nil:
		m.traffic.sent.Add(1)
		sent := bridge.Sent{ID: d.id, Chat: chat, Timestamp: bridge.At(at)}
		m.reacted(ctx, sent, r, key)
		return sent, nil
	case errors.As(err, &lost) && isStopping(ctx):
		return bridge.Sent{}, shuttingDown(err)
	case errors.As(err, &lost):
		return bridge.Sent{}, bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the reaction in time: repeat the request, it cannot be doubled").Because(err)
	}
	m.traffic.failed.Add(1)
	return bridge.Sent{}, m.refusalOf(err, chat)
}

// reacted stores a reaction that the network accepted, with the key that a
// repeated call is answered from.
func (m *Manager) reacted(ctx context.Context, sent bridge.Sent, r bridge.Reaction, key *bridge.SendKey) {
	pn, _ := m.own()
	change := bridge.ReactionChange{Chat: sent.Chat, Target: r.Target.ID, Sender: pn, Emoji: r.Emoji, Timestamp: bridge.At(time.Now())}
	if err := m.store.Save(context.WithoutCancel(ctx), withKey(key, sent, change)...); err != nil {
		m.log.Error().Err(err).Str("msg_id", r.Target.ID).Msg("reaction sent, but not stored")
	}
}
