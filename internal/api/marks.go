package api

import (
	"context"
	"time"

	"bridged/internal/bridge"
)

// pinTimes lists how long the apps pin a message.
var pinTimes = map[string]time.Duration{"24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour}

// pinMessage pins a message for everybody in its chat.
func pinMessage(in *input) (any, error) {
	at := in.pathMessage("jid")
	var req struct {
		Duration string `json:"duration"`
	}
	body := in.body(&req, strict)
	length, known := pinTimes[req.Duration]
	if !known {
		in.refuse("duration must be 24h, 7d or 30d")
	}
	return setPin(in, at, body, length)
}

func unpinMessage(in *input) (any, error) {
	at := in.pathMessage("jid")
	return setPin(in, at, in.body(&struct{}{}, optional), 0)
}

// setPin pins a message, or unpins it if length is zero.
func setPin(in *input, at reference, body []byte, length time.Duration) (any, error) {
	return changeMessage(in, at, body, func(ctx context.Context, m bridge.Message) (bridge.Content, error) {
		err := m.Markable("pinned")
		if err == nil {
			err = in.mayPin(ctx, m.Chat)
		}
		return bridge.MessagePin{Target: m, Length: length}, err
	})
}

// mayPin returns an error if the account may not pin messages in a chat: if only admins may change a
// group, only they may.
func (s *server) mayPin(ctx context.Context, chat bridge.JID) error {
	if !chat.IsGroup() {
		return nil
	}
	group, err := s.Store.Group(ctx, chat)
	if err != nil || !group.IsLocked {
		return err
	}
	isAdmin, err := s.administers(ctx, chat)
	if err == nil && !isAdmin {
		err = bridge.Fail(bridge.CodeNotAdmin, "only an admin may pin messages in this group, and the account is not an admin")
	}
	return err
}

// votePoll replaces the account's choice in a poll.
func votePoll(in *input) (any, error) {
	at := in.pathMessage("jid")
	var req struct {
		Options *[]string `json:"options"`
	}
	body := in.body(&req, strict)
	switch {
	case req.Options == nil:
		in.refuse("options is required: the names of the chosen options; an empty list withdraws the vote")
		return nil, in.err
	case len(*req.Options) > bridge.MaxPollOptions:
		in.refuse("options must hold at most %d names", bridge.MaxPollOptions)
	}
	return changeMessage(in, at, body, func(_ context.Context, m bridge.Message) (bridge.Content, error) {
		return bridge.Vote{Target: m, Options: *req.Options}, m.Votable(*req.Options)
	})
}

func starMessage(in *input) (any, error) { return setStar(in, true) }

func unstarMessage(in *input) (any, error) { return setStar(in, false) }

// setStar stars a message for the account, or removes the star.
func setStar(in *input, starred bool) (any, error) {
	at := in.pathMessage("jid")
	return changeForAccount(in, at, in.body(&struct{}{}, optional), func(m *bridge.Message) error { return m.Markable("starred") },
		func(ctx context.Context, m bridge.Message) error { return in.Account.Star(ctx, m, starred) })
}

// changeForAccount changes a stored message on the account's own devices, if may allows it.
func changeForAccount(in *input, at reference, body []byte, may func(*bridge.Message) error, change func(context.Context, bridge.Message) error) (any, error) {
	var m bridge.Message
	return actOnce(in, body, act{
		chat: at.chat, change: true,
		lookUp: func(ctx context.Context) (err error) {
			if m, err = in.message(ctx, at.chat, at.id); err == nil {
				err = may(&m)
			}
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: bridge.At(in.Now())}, change(ctx, m)
		},
		answer: func(done bridge.Sent) any { return in.answerSent(in.ctx(), done, false) },
	})
}
