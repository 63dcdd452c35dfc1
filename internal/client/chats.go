package client

import (
	"context"
	"iter"
	"net/http"

	"bridged/internal/bridge"
)

type chatsAnswer struct {
	Chats      []bridge.Chat
	NextCursor *string
}

func (a *chatsAnswer) page() bridge.Page[bridge.Chat] {
	return bridge.Page[bridge.Chat]{Items: a.Chats, NextCursor: a.NextCursor}
}

// Chats returns a page of the list of chats. Zero values are the API's
// defaults.
func (c *Client) Chats(ctx context.Context, q bridge.ChatQuery) (bridge.Page[bridge.Chat], error) {
	path := newParams().text("type", string(q.Type)).text("q", q.Q).
		number("limit", q.Limit).number("offset", q.Offset).text("cursor", q.Cursor).on("/api/chats")
	return getPage(ctx, c, path, new(chatsAnswer))
}

// AllChats returns all chats from the page of q on. Limit is the size of a
// page.
func (c *Client) AllChats(ctx context.Context, q bridge.ChatQuery) iter.Seq2[bridge.Chat, error] {
	return pages(q.Cursor, func(cursor string) (bridge.Page[bridge.Chat], error) {
		if cursor != q.Cursor {
			q.Cursor, q.Offset = cursor, 0
		}
		return c.Chats(ctx, q)
	})
}

// Chat returns one chat.
func (c *Client) Chat(ctx context.Context, jid bridge.JID) (chat bridge.Chat, err error) {
	err = c.Call(ctx, http.MethodGet, "/api/chats/"+jid.Escaped(), nil, &chat)
	return chat, err
}

// GroupDetail is a group as it is stored, and as the network shows it now: Live
// is nil where the network could not be asked.
type GroupDetail struct {
	JID    bridge.JID
	Stored bridge.StoredGroup
	Live   *bridge.Group
}

// Group returns a group with its members.
func (c *Client) Group(ctx context.Context, jid bridge.JID) (detail GroupDetail, err error) {
	err = c.Call(ctx, http.MethodGet, "/api/groups/"+jid.Escaped(), nil, &detail)
	return detail, err
}
