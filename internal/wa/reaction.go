package wa

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// react sends a reaction. It is no message of its own: what is stored is the
// change of the one it names, after the network accepted it.
func (m *Manager) react(ctx context.Context, l *link, to types.JID, chat bridge.JID, r bridge.Reaction, key *bridge.SendKey) (bridge.Sent, error) {
	msg, err := l.reactionMessage(ctx, to, chat, r)
	if err != nil {
		return bridge.Sent{}, err
	}
	id := l.cli.GenerateMessageID()
	at, err := m.deliver(ctx, to, id, msg, func() bool { return false }) // nobody acknowledges a reaction
	var lost *unanswered
	switch {
	case err == nil:
		m.traffic.sent.Add(1)
		sent := bridge.Sent{ID: id, Chat: chat, Timestamp: bridge.At(at)}
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
