package console

import (
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const (
	pageOfMessages = 50 // messages of a chat
	around         = 25 // messages on each side of the one that was asked for
)

type chatPage struct {
	List         chatList
	Chat         bridge.Chat
	Name         string
	Days         []dayPart
	Unread       unread
	Older, Newer string // the addresses of the messages before and after; empty for none
	At           string // the message that was asked for
	IsNew        bool   // nothing of it is stored yet
	Composer     composer
	Transcribes  bool // voice notes, on request
	Curl         string
}

// showChat answers a part of a chat: its newest messages, those around one
// (at), before a cursor (older) or after one (newer).
func (c *Console) showChat(v *visit) (err error) {
	ctx, query := v.r.Context(), v.r.URL.Query()
	page := chatPage{At: query.Get("at")}
	if page.Chat, page.IsNew, err = v.chatOf(ctx, v.chat); err != nil {
		return err
	}
	page.Name, page.Transcribes, page.Curl = nameOf(page.Chat), v.transcribes(), curl("GET", client.HistoryPath(page.Chat.JID)+"?limit=50", nil)
	if page.List, err = v.listChats(ctx, query, page.Chat.JID); err != nil {
		return err
	}
	messages, err := page.read(ctx, v, query)
	if err != nil {
		return err
	}
	bubbles, err := v.bubbles(page.Chat, page.List.Items, messages, page.Unread)
	if err != nil {
		return err
	}
	page.Days = inDays(bubbles)
	if page.Composer, err = v.composer(ctx, page.Chat, query); err != nil {
		return err
	}
	if page.Composer.On {
		v.w.Header().Set("Permissions-Policy", permissions("self"))
	}
	return v.show("chat", page.Name, page)
}

// more returns the address of the page at a cursor; empty for none.
func more(path string, query url.Values, parameter string, cursor *string) string {
	if cursor == nil {
		return ""
	}
	query.Set(parameter, *cursor)
	return path + "?" + query.Encode()
}
