package shell

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"bridged/internal/bridge"
)

const maxPage = 500 // the API's largest

// Chats chooses chats.
type Chats struct {
	Q      string
	Type   bridge.ChatType
	Unread bool // only chats with unread messages
	Label  string
	Limit  int // 0 is all
}

// Chats prints chats, the one with the latest message first.
func (s *Shell) Chats(ctx context.Context, q Chats) error {
	label := ""
	if q.Label != "" {
		found, err := s.findLabel(ctx, q.Label)
		if err != nil {
			return err
		}
		label = found.ID
	}
	chats := func(yield func(bridge.Chat, error) bool) {
		for chat, err := range s.API.AllChats(ctx, bridge.ChatQuery{Q: q.Q, Type: q.Type, Label: label, Limit: pageOf(q.Limit)}) {
			if (err != nil || !q.Unread || chat.UnreadCount > 0) && !yield(chat, err) {
				return
			}
		}
	}
	columns := []column{{title: "NAME", most: 28, flexible: true}, {title: "JID"}, {title: "UNREAD"}, {title: "LAST"}, {title: "MESSAGE", flexible: true}}
	const none = "There are no such chats. Chats are listed once they have messages from after the linking."
	return list(s, chats, q.Limit, none, columns, s.chatRow)
}

func (s *Shell) chatRow(chat bridge.Chat) []string {
	unread, last := "", ""
	if chat.UnreadCount > 0 {
		unread = fmt.Sprint(chat.UnreadCount)
	}
	if m := chat.LastMessage; m != nil {
		last = textOf(m.Content, m.MessageType)
		switch {
		case m.FromMe:
			last = "me: " + last
		case chat.IsGroup:
			last = senderOf(m.PushName, m.SenderJID) + ": " + last
		}
	}
	return []string{nameOf(chat), string(chat.JID), unread, s.when(chat.LastMessageAt), last}
}

// pageOf returns the size of pages for a number of rows.
func pageOf(limit int) int {
	if limit <= 0 {
		return maxPage
	}
	return min(limit, maxPage)
}

// textOf returns a message's text, or the word for its type if it has none.
func textOf(content, kind string) string {
	if strings.TrimSpace(content) == "" {
		return "[" + kindWord(kind) + "]"
	}
	return content
}

// senderOf returns the name of a sender, or else the user of its JID.
func senderOf(pushName string, jid bridge.JID) string {
	return cmp.Or(strings.TrimSpace(pushName), jid.User())
}

// nameOf returns a chat's name, or else the user of its JID.
func nameOf(chat bridge.Chat) string { return cmp.Or(chat.Name, chat.JID.User()) }

// names caches the names of the chats in events.
type names map[bridge.JID]string

const maxNames = 4096 // in the cache

// name returns a chat's name, which it requests once, or the user of its JID.
func (s *Shell) name(ctx context.Context, known names, jid bridge.JID) string {
	if name, ok := known[jid]; ok {
		return name
	}
	name := jid.User()
	if chat, err := s.API.Chat(ctx, jid); err == nil {
		name = nameOf(chat)
	}
	if len(known) < maxNames {
		known[jid] = name
	}
	return name
}
