package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// Messages chooses messages of a chat.
type Messages struct {
	Chat          string
	Q             string // a part of their text
	Since, Before string
	Limit         int  // the newest ones; 0 is all
	IDs           bool // with their ids, and the JIDs of their senders
}

// Messages prints messages, the oldest first.
func (s *Shell) Messages(ctx context.Context, q Messages) error {
	chat, err := s.find(ctx, q.Chat)
	if err != nil {
		return err
	}
	query := bridge.MessageQuery{Chat: chat, Q: q.Q, Order: bridge.OrderDesc, Limit: pageOf(q.Limit)}
	if query.Since, query.Until, err = s.between(q.Since, q.Before); err != nil {
		return err
	}
	if q.Limit == 0 && s.JSON {
		query.Order = bridge.OrderAsc // they are printed as they come
		for m, err := range s.API.AllMessages(ctx, query) {
			if err == nil {
				err = s.printJSON(shownMessage{m.Chat, m})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	var list []bridge.Message
	for m, err := range s.API.AllMessages(ctx, query) {
		if err != nil {
			return err
		}
		if list = append(list, m); len(list) == q.Limit {
			break
		}
	}
	slices.Reverse(list)
	return s.printMessages(list, q.IDs)
}

// between reads the bounds of a stretch of time. The end is not in it.
func (s *Shell) between(since, before string) (from, until *bridge.Time, err error) {
	if from, err = s.moment("--since", since); err != nil {
		return nil, nil, err
	}
	if until, err = s.moment("--before", before); err != nil || until == nil {
		return from, nil, err
	}
	return from, new(bridge.At(until.Add(-time.Millisecond))), nil
}

// shownMessage is a message as JSON, with its chat.
type shownMessage struct {
	ChatJID bridge.JID `json:"chatJid"`
	bridge.Message
}

func (s *Shell) printMessages(list []bridge.Message, ids bool) error {
	if s.JSON {
		for _, m := range list {
			if err := s.printJSON(shownMessage{m.Chat, m}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		return s.note("There are no such messages.")
	}
	columns := []column{{title: "TIME"}, {title: "FROM", most: 24}, {title: "MESSAGE", flexible: true, wraps: true}}
	if ids {
		columns = slices.Insert(columns, 1, column{title: "ID"}, column{title: "JID"})
	}
	rows := make([][]string, len(list))
	for i, m := range list {
		rows[i] = []string{s.when(&m.Timestamp), from(m), messageText(m)}
		if ids {
			rows[i] = slices.Insert(rows[i], 1, m.ID, string(m.SenderJID))
		}
	}
	return s.table(columns, rows)
}

// from names the sender of a message.
func from(m bridge.Message) string {
	if m.FromMe {
		return "me"
	}
	return senderOf(m.PushName, m.SenderJID)
}

// messageText returns the text of a message, with its file, its state and reactions.
func messageText(m bridge.Message) string {
	if m.DeletedAt != nil {
		return "[deleted]"
	}
	text := textOf(m.Content, m.MessageType)
	if m.Media != nil {
		text = strings.TrimSpace(fmt.Sprintf("[%s %s] %s", m.Media.Type, m.Media.FileName, m.Content))
		text = strings.Replace(text, " ]", "]", 1)
	}
	if m.EditedAt != nil {
		text += " (edited)"
	}
	if m.Status != nil && (*m.Status == bridge.DeliveryPending || *m.Status == bridge.DeliveryFailed) {
		text += fmt.Sprintf(" (%s)", *m.Status)
	}
	if len(m.Reactions) > 0 {
		text += " ["
		for _, r := range m.Reactions {
			text += r.Emoji
		}
		text += "]"
	}
	return text
}
