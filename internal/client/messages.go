package client

import (
	"context"
	"iter"
	"net/http"

	"bridged/internal/bridge"
)

type historyAnswer struct {
	JID        bridge.JID
	Messages   []bridge.Message
	NextCursor *string
}

func (a *historyAnswer) page() bridge.Page[bridge.Message] {
	for i := range a.Messages {
		a.Messages[i].Chat = a.JID
	}
	return bridge.Page[bridge.Message]{Items: a.Messages, NextCursor: a.NextCursor}
}

// HistoryPath returns the path of a chat's messages.
func HistoryPath(chat bridge.JID) string {
	if chat.IsGroup() {
		return "/api/groups/" + chat.Escaped() + "/messages"
	}
	return "/api/messages/individual/" + chat.Escaped()
}

// Messages returns a page of a chat's messages. Zero values are the API's
// defaults.
func (c *Client) Messages(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	path := newParams().moment("since", q.Since).moment("until", q.Until).text("q", q.Q).
		text("sender", string(q.Sender)).text("order", string(q.Order)).
		number("limit", q.Limit).number("offset", q.Offset).text("cursor", q.Cursor).on(HistoryPath(q.Chat))
	return getPage(ctx, c, path, new(historyAnswer))
}

// AllMessages returns all messages from the page of q on. Limit is the size of
// a page.
func (c *Client) AllMessages(ctx context.Context, q bridge.MessageQuery) iter.Seq2[bridge.Message, error] {
	return pages(q.Cursor, func(cursor string) (bridge.Page[bridge.Message], error) {
		if cursor != q.Cursor {
			q.Cursor, q.Offset = cursor, 0
		}
		return c.Messages(ctx, q)
	})
}

// Message returns one message of a chat.
func (c *Client) Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error) {
	var answer struct {
		ChatJID bridge.JID
		Message bridge.Message
	}
	err := c.Call(ctx, http.MethodGet, messagePath(chat, id), nil, &answer)
	answer.Message.Chat = answer.ChatJID
	return answer.Message, err
}

type searchAnswer struct {
	Matches    []bridge.Match
	NextCursor *string
}

func (a *searchAnswer) page() bridge.Page[bridge.Match] {
	return bridge.Page[bridge.Match]{Items: a.Matches, NextCursor: a.NextCursor}
}

// Search returns a page of the messages of all chats that contain a text.
func (c *Client) Search(ctx context.Context, q bridge.SearchQuery) (bridge.Page[bridge.Match], error) {
	path := newParams().text("q", q.Q).moment("since", q.Since).moment("until", q.Until).
		text("chatType", string(q.ChatType)).number("limit", q.Limit).text("cursor", q.Cursor).on("/api/messages/search")
	return getPage(ctx, c, path, new(searchAnswer))
}

// AllMatches returns all messages that contain a text, from the page of q on.
func (c *Client) AllMatches(ctx context.Context, q bridge.SearchQuery) iter.Seq2[bridge.Match, error] {
	return pages(q.Cursor, func(cursor string) (bridge.Page[bridge.Match], error) {
		q.Cursor = cursor
		return c.Search(ctx, q)
	})
}
