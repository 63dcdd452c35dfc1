package client

import (
	"context"
	"io"
	"iter"
	"net/http"

	"bridged/internal/bridge"
)

func messagePath(chat bridge.JID, id string) string {
	return "/api/chats/" + chat.Escaped() + "/messages/" + bridge.PathID(id)
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
	path := query{
		"since": moment(q.Since), "until": moment(q.Until), "q": q.Q, "sender": string(q.Sender), "order": string(q.Order),
		"limit": number(q.Limit), "offset": number(q.Offset), "cursor": q.Cursor,
	}.on(HistoryPath(q.Chat))
	var answer struct {
		JID        bridge.JID
		Messages   []bridge.Message
		NextCursor *string
	}
	err := c.Call(ctx, http.MethodGet, path, nil, &answer)
	for i := range answer.Messages {
		answer.Messages[i].Chat = answer.JID
	}
	return bridge.Page[bridge.Message]{Items: answer.Messages, NextCursor: answer.NextCursor}, err
}

// AllMessages returns all messages from the page of q on. Limit is the size of
// a page.
func (c *Client) AllMessages(ctx context.Context, q bridge.MessageQuery) iter.Seq2[bridge.Message, error] {
	return pages(func(cursor *string) (bridge.Page[bridge.Message], error) {
		if cursor != nil {
			q.Cursor, q.Offset = *cursor, 0
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

// Search returns a page of the messages of all chats that contain a text.
func (c *Client) Search(ctx context.Context, q bridge.SearchQuery) (bridge.Page[bridge.Match], error) {
	path := query{
		"q": q.Q, "since": moment(q.Since), "until": moment(q.Until), "chatType": string(q.ChatType),
		"limit": number(q.Limit), "cursor": q.Cursor,
	}.on("/api/messages/search")
	return getPage[bridge.Match](ctx, c, path, "matches")
}

// AllMatches returns all messages that contain a text, from the page of q on.
func (c *Client) AllMatches(ctx context.Context, q bridge.SearchQuery) iter.Seq2[bridge.Match, error] {
	return pages(func(cursor *string) (bridge.Page[bridge.Match], error) {
		if cursor != nil {
			q.Cursor = *cursor
		}
		return c.Search(ctx, q)
	})
}

// MediaInfo describes a message's file.
func (c *Client) MediaInfo(ctx context.Context, chat bridge.JID, msgID string) (bridge.Media, error) {
	var answer struct{ Media bridge.Media }
	err := c.Call(ctx, http.MethodGet, "/api/messages/media-info/"+chat.Escaped()+"/"+bridge.PathID(msgID), nil, &answer)
	return answer.Media, err
}

// Download opens a message's file, which the caller closes. Size is -1 where
// it is not known.
func (c *Client) Download(ctx context.Context, chat bridge.JID, msgID string) (file io.ReadCloser, size int64, err error) {
	resp, err := c.Do(ctx, http.MethodGet, bridge.DownloadPath(chat, msgID), nil, nil)
	if err != nil {
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}
