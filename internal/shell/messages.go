package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// Messages asks for messages of a chat.
type Messages struct {
	Chat          string
	Q             string // a part of their text
	Since, Before string
	Limit         int  // the newest ones; 0 is all
	IDs           bool // with their ids, and the JIDs of those who sent them
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
		query.Order = bridge.OrderAsc // as they come
		for m, err := range s.API.AllMessages(ctx, query) {
			if err != nil {
				return err
			}
			if err := s.printJSON(asShown(m)); err != nil {
				return err
			}
		}
		return nil
	}
	list, err := s.newest(ctx, query, q.Limit)
	if err != nil {
		return err
	}
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
	return from, moment(until.Add(-time.Millisecond)), nil
}

// newest returns the newest messages, the oldest of them first.
func (s *Shell) newest(ctx context.Context, query bridge.MessageQuery, limit int) (list []bridge.Message, err error) {
	for m, err := range s.API.AllMessages(ctx, query) {
		if err != nil {
			return nil, err
		}
		if list = append(list, m); len(list) == limit {
			break
		}
	}
	slices.Reverse(list)
	return list, nil
}

// shownMessage is a message as JSON, with its chat.
type shownMessage struct {
	ChatJID bridge.JID `json:"chatJid"`
	bridge.Message
}

func asShown(m bridge.Message) shownMessage { return shownMessage{m.Chat, m} }

func (s *Shell) printMessages(list []bridge.Message, ids bool) error {
	if s.JSON {
		for _, m := range list {
			if err := s.printJSON(asShown(m)); err != nil {
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

// from returns who wrote a message.
func from(m bridge.Message) string {
	if m.FromMe {
		return "me"
	}
	return senderOf(m.PushName, m.SenderJID)
}

// messageText returns what a message says, with its file, and what became of it.
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
		emoji := make([]string, len(m.Reactions))
		for i, r := range m.Reactions {
			emoji[i] = r.Emoji
		}
		text += " [" + strings.Join(emoji, "") + "]"
	}
	return text
}
