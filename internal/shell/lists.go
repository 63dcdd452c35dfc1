package shell

import (
	"context"
	"fmt"
	"strings"

	"bridged/internal/bridge"
)

// maxPage is the API's largest page.
const maxPage = 500

// Chats chooses chats.
type Chats struct {
	Q      string
	Type   bridge.ChatType
	Unread bool // only those with unread messages
	Limit  int  // 0 is all
}

// Chats prints chats, the one with the latest message first.
func (s *Shell) Chats(ctx context.Context, q Chats) error {
	chats := func(yield func(bridge.Chat, error) bool) {
		for chat, err := range s.API.AllChats(ctx, bridge.ChatQuery{Q: q.Q, Type: q.Type, Limit: pageOf(q.Limit)}) {
			if (err != nil || !q.Unread || chat.UnreadCount > 0) && !yield(chat, err) {
				return
			}
		}
	}
	rows, err := list(s, chats, q.Limit, s.chatRow)
	if err != nil || s.JSON {
		return err
	}
	if len(rows) == 0 {
		return s.note("There are no such chats. Listed are those with messages since the account was linked.")
	}
	return s.table([]column{{title: "NAME", most: 28, flexible: true}, {title: "JID"}, {title: "UNREAD"}, {title: "LAST"}, {title: "MESSAGE", flexible: true}}, rows)
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

// pageOf returns the size of pages for so many rows.
func pageOf(limit int) int {
	if limit <= 0 {
		return maxPage
	}
	return min(limit, maxPage)
}

// textOf returns a message's text, or its type where it has none.
func textOf(content, kind string) string {
	if strings.TrimSpace(content) == "" {
		return "[" + kind + "]"
	}
	return content
}

// senderOf returns the name of a sender, or else the user of its JID.
func senderOf(pushName string, jid bridge.JID) string {
	if strings.TrimSpace(pushName) != "" {
		return pushName
	}
	return jid.User()
}
