package shell

import (
	"context"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// Search chooses messages by their text.
type Search struct {
	Q             string
	Chat          string // only in this one
	Type          bridge.ChatType
	Since, Before string
	Limit         int  // 0 is all
	IDs           bool // with ids and JIDs
}

// Search prints the messages that it finds, the newest first.
func (s *Shell) Search(ctx context.Context, q Search) error {
	if strings.TrimSpace(q.Q) == "" {
		return usage("give a text to search for")
	}
	if q.Chat != "" {
		return s.Messages(ctx, Messages{Chat: q.Chat, Q: q.Q, Since: q.Since, Before: q.Before, Limit: q.Limit, IDs: q.IDs})
	}
	query := bridge.SearchQuery{Q: q.Q, ChatType: q.Type, Limit: pageOf(q.Limit)}
	var err error
	if query.Since, query.Until, err = s.between(q.Since, q.Before); err != nil {
		return err
	}
	rows, err := list(s, s.API.AllMatches(ctx, query), q.Limit, func(m bridge.Match) []string { return s.matchRow(m, q) })
	if err != nil || s.JSON {
		return err
	}
	if len(rows) == 0 {
		return s.note("Nothing was found.")
	}
	columns := []column{{title: "TIME"}, {title: "CHAT", most: 24}, {title: "FROM", most: 20}, {title: "MESSAGE", flexible: true}}
	if q.IDs {
		columns = slices.Insert(columns, 1, column{title: "ID"}, column{title: "CHAT JID"})
	}
	return s.table(columns, rows)
}

func (s *Shell) matchRow(m bridge.Match, q Search) []string {
	sender := "me"
	if !m.FromMe {
		sender = senderOf(m.PushName, m.SenderJID)
	}
	text := textOf(m.Content, m.MessageType)
	if s.Width > 0 {
		text = around(text, q.Q)
	}
	row := []string{s.when(&m.Timestamp), senderOf(m.ChatName, m.ChatJID), sender, text}
	if q.IDs {
		row = slices.Insert(row, 1, m.MsgID, string(m.ChatJID))
	}
	return row
}

// around returns a text from shortly before where another is found in it.
func around(text, q string) string {
	const before = 16
	at := strings.Index(strings.ToLower(text), strings.ToLower(q))
	if at <= before || at > len(text) {
		return text
	}
	start := at - before
	if space := strings.IndexByte(text[start:at], ' '); space >= 0 {
		start += space + 1
	}
	return "…" + strings.ToValidUTF8(text[start:], "")
}
