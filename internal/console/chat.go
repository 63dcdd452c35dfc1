package console

import (
	"context"
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const (
	pageOfChats    = 50 // chats of a list
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
	page.Name, page.Curl = nameOf(page.Chat), curl("GET", client.HistoryPath(page.Chat.JID)+"?limit=50", nil)
	if page.List, err = v.listChats(ctx, nil, page.Chat.JID); err != nil {
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

type chatList struct {
	Items []bridge.Chat
	Type  bridge.ChatType
	Open  bridge.JID // the chat that is shown beside the list
	More  string     // the address of the next page; empty for none
}

func (v *visit) listChats(ctx context.Context, query url.Values, open bridge.JID) (chatList, error) {
	list := chatList{Type: chatTypeOf(query), Open: open}
	page, err := v.api.Chats(ctx, bridge.ChatQuery{Type: list.Type, Limit: pageOfChats, Cursor: query.Get("cursor")})
	if err != nil {
		return list, err
	}
	list.Items = page.Items
	if err := v.nameSenders(list.Items); err != nil {
		return list, err
	}
	next := url.Values{}
	if list.Type != "" {
		next.Set("type", string(list.Type))
	}
	list.More = more(root+"/chats", next, "cursor", page.NextCursor)
	return list, nil
}

// chatTypeOf returns the kind of chats that a page is asked for.
func chatTypeOf(query url.Values) bridge.ChatType {
	switch kind := bridge.ChatType(query.Get("type")); kind {
	case bridge.ChatsGroup, bridge.ChatsIndividual:
		return kind
	}
	return ""
}

func (c *Console) showChats(v *visit) error {
	list, err := v.listChats(v.r.Context(), v.r.URL.Query(), "")
	if err != nil {
		return err
	}
	return v.show("chats", "Chats", struct {
		List chatList
		Curl string
	}{list, curl("GET", "/api/chats", nil)})
}
