package console

import (
	"context"
	"net/http"
	"net/url"

	"bridged/internal/bridge"
)

// pageOfChats is how many chats a list shows at once.
const pageOfChats = 50

// chatList is a page of chats beside or before what is read.
type chatList struct {
	Items []bridge.Chat
	Type  bridge.ChatType
	Open  bridge.JID // the chat that is read
	More  string     // the address of the next page; empty for none
}

// listChats returns a page of the list of chats.
func (v *visit) listChats(ctx context.Context, query url.Values, open bridge.JID) (chatList, error) {
	list := chatList{Type: chatTypeOf(query), Open: open}
	page, err := v.api.Chats(ctx, bridge.ChatQuery{Type: list.Type, Limit: pageOfChats, Cursor: query.Get("cursor")})
	if err != nil {
		return list, err
	}
	list.Items = page.Items
	if page.NextCursor != nil {
		next := url.Values{"cursor": {*page.NextCursor}}
		if list.Type != "" {
			next.Set("type", string(list.Type))
		}
		list.More = root + "/chats?" + next.Encode()
	}
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

// chatsPage is the list of chats alone.
type chatsPage struct {
	List chatList
	Curl string
}

// showChats answers the list of chats.
func (c *Console) showChats(v *visit) (err error) {
	page := chatsPage{Curl: curlGet("/api/chats")}
	if page.List, err = v.listChats(v.r.Context(), v.r.URL.Query(), ""); err != nil {
		return err
	}
	v.show(http.StatusOK, "chats", "Chats", page)
	return nil
}
