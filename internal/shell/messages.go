package shell

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/folding"
)

// Messages chooses messages of a chat.
type Messages struct {
	Chat          string
	Q             string // a part of the text
	Fold          bridge.Fold
	Filter        bridge.MessageFilter
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
	query := bridge.MessageQuery{Chat: chat, Q: q.Q, Fold: q.Fold, MessageFilter: q.Filter, Limit: pageOf(q.Limit)}
	if query.Since, query.Until, err = s.between(q.Since, q.Before); err != nil {
		return err
	}
	return s.printMessages(s.newest(ctx, query, q.Limit), q.IDs)
}

// Message prints one message with its details.
func (s *Shell) Message(ctx context.Context, which Target) error {
	chat, err := s.chatOf(ctx, which)
	if err != nil {
		return err
	}
	m, err := s.API.Message(ctx, chat, which.Message)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.printJSON(shownMessage{m.Chat, m})
	}
	starred, by := "", ""
	if m.Starred {
		starred = "yes"
	}
	if m.By != nil {
		by = m.By.String()
	}
	return s.properties([][2]string{
		{"Id", m.ID},
		{"Chat", string(m.Chat)},
		{"From", from(m)},
		{"JID", string(m.SenderJID)},
		{"Time", s.when(&m.Timestamp)},
		{"Type", kindWord(m.MessageType)},
		{"Status", string(*cmp.Or(m.Status, new(bridge.Delivery)))},
		{"Sent", by},
		{"Edited", s.when(m.EditedAt)},
		{"Deleted", s.when(m.DeletedAt)},
		{"Pinned until", s.when(m.PinnedUntil)},
		{"Starred", starred},
		{"Message", messageText(m)},
		{"Transcript", m.Transcript.GetText()},
	})
}

func (s *Shell) printMessages(messages iter.Seq2[shownMessage, error], ids bool) error {
	columns := []column{{title: "TIME"}, {title: "FROM", most: 24}, {title: "MESSAGE", flexible: true, wraps: true}}
	if ids {
		columns = slices.Insert(columns, 1, column{title: "ID"}, column{title: "JID"})
	}
	return list(s, messages, 0, "There are no such messages.", columns, func(m shownMessage) []string {
		row := []string{s.when(&m.Timestamp), from(m.Message), messageText(m.Message)}
		if ids {
			row = slices.Insert(row, 1, m.ID, string(m.SenderJID))
		}
		return row
	})
}

// newest returns the newest messages of a query in the order of time. If limit is 0, it returns all
// messages, one page at a time.
func (s *Shell) newest(ctx context.Context, query bridge.MessageQuery, limit int) iter.Seq2[shownMessage, error] {
	query.Order = bridge.OrderDesc
	if limit == 0 {
		query.Order = bridge.OrderAsc
	}
	return func(yield func(shownMessage, error) bool) {
		var latest []shownMessage
		for m, err := range s.API.AllMessages(ctx, query) {
			shown := shownMessage{m.Chat, m}
			if limit == 0 || err != nil {
				if !yield(shown, err) {
					return
				}
				continue
			}
			if latest = append(latest, shown); len(latest) == limit {
				break
			}
		}
		for _, m := range slices.Backward(latest) {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// between parses the bounds of a period, which does not include its end.
func (s *Shell) between(since, before string) (from, until *bridge.Time, err error) {
	if from, err = s.moment("--since", since); err != nil {
		return nil, nil, err
	}
	if until, err = s.moment("--before", before); err != nil || until == nil {
		return from, nil, err
	}
	return from, new(bridge.At(until.Add(-time.Millisecond))), nil
}

// shownMessage is a message with its chat, for JSON.
type shownMessage struct {
	ChatJID bridge.JID `json:"chatJid"`
	bridge.Message
}

func from(m bridge.Message) string {
	if m.FromMe {
		return "me"
	}
	return senderOf(m.PushName, m.SenderJID)
}

// messageText returns the text of a message with its file, status and reactions.
func messageText(m bridge.Message) string {
	if m.DeletedAt != nil {
		return "[deleted]"
	}
	text := quoteText(m.Quoted) + fileText(m.Words(), m.MessageType, m.Media)
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

const maxQuote = 60 // characters

// quoteText returns the quoted message, or "" if there is none. It marks a quotation that is not stored and
// so may be false.
func quoteText(q *bridge.Quoted) string {
	if q == nil {
		return ""
	}
	by, what := "me", cmp.Or(q.Content, q.FileName)
	if !q.IsFromMe() {
		by = senderOf(q.PushName, q.SenderJID)
	}
	switch {
	case q.DeletedAt != nil:
		what = "deleted"
	case what == "" && q.MessageType == bridge.TypeUnknown:
		what = "not stored"
	case what == "":
		what = q.MessageType
	}
	claim := ""
	if q.IsClaim() {
		claim = ", as quoted"
	}
	return fmt.Sprintf("[to %s%s: %s] ", cmp.Or(by, "somebody"), claim, bridge.Beginning(strings.Join(strings.Fields(what), " "), maxQuote))
}

// fileText returns the text of a message, after the type and the name of its file if it has one.
func fileText(content, kind string, file *bridge.Media) string {
	if file == nil {
		return textOf(content, kind)
	}
	text := strings.TrimSpace(fmt.Sprintf("[%s %s] %s", file.Type, file.FileName, content))
	return strings.Replace(text, " ]", "]", 1)
}

// Search chooses messages by their text and other properties.
type Search struct {
	Q             string
	Fold          bridge.Fold
	Chat          string // only in this chat
	From          string // only from this person
	Type          bridge.ChatType
	Filter        bridge.MessageFilter
	Since, Before string
	Limit         int  // 0 is all
	IDs           bool // with ids and JIDs
}

// Search prints the messages that match, the newest first. It prints the messages of one chat in the same
// way as [Shell.Messages].
func (s *Shell) Search(ctx context.Context, q Search) error {
	if q.Chat != "" && q.From == "" {
		return s.Messages(ctx, Messages{Chat: q.Chat, Q: q.Q, Fold: q.Fold, Filter: q.Filter, Since: q.Since, Before: q.Before, Limit: q.Limit, IDs: q.IDs})
	}
	query, err := s.searchQuery(ctx, q)
	if err != nil {
		return err
	}
	columns := []column{{title: "TIME"}, {title: "CHAT", most: 24}, {title: "FROM", most: 20}, {title: "MESSAGE", flexible: true}}
	if q.IDs {
		columns = slices.Insert(columns, 1, column{title: "ID"}, column{title: "CHAT JID"})
	}
	return list(s, s.API.AllMatches(ctx, query), q.Limit, "Nothing was found.", columns, func(m bridge.Match) []string { return s.matchRow(m, q) })
}

func (s *Shell) searchQuery(ctx context.Context, q Search) (query bridge.SearchQuery, err error) {
	query = bridge.SearchQuery{Q: q.Q, Fold: q.Fold, MessageFilter: q.Filter, ChatType: q.Type, Limit: pageOf(q.Limit)}
	if q.Chat != "" {
		if query.Chat, err = s.find(ctx, q.Chat); err != nil {
			return query, err
		}
	}
	if q.From != "" {
		if query.Sender, err = s.findPerson(ctx, q.From); err != nil {
			return query, err
		}
		if !query.Sender.IsPerson() {
			return query, Usage("--from must name a person, and %s is not one", q.From)
		}
	}
	if !query.IsNarrow() {
		return query, Usage("give a text to search for, or one of --chat, --from, --type (of messages), --mine and --starred")
	}
	query.Since, query.Until, err = s.between(q.Since, q.Before)
	return query, err
}

func (s *Shell) matchRow(m bridge.Match, q Search) []string {
	sender := "me"
	if !m.FromMe {
		sender = senderOf(m.PushName, m.SenderJID)
	}
	text := fileText(m.Words(), m.MessageType, m.Media)
	if s.Width > 0 {
		text = folding.Plain(folding.Around(text, q.Q, q.Fold, 16, len(text)))
	}
	row := []string{s.when(&m.Timestamp), senderOf(m.ChatName, m.ChatJID), sender, text}
	if q.IDs {
		row = slices.Insert(row, 1, m.MsgID, string(m.ChatJID))
	}
	return row
}
