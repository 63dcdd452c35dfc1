package client

import (
	"context"
	"iter"
	"net/http"

	"bridged/internal/bridge"
)

// Chats returns a page of the list of chats. Zero values are the API's
// defaults.
func (c *Client) Chats(ctx context.Context, q bridge.ChatQuery) (bridge.Page[bridge.Chat], error) {
	path := newParams().text("type", string(q.Type)).text("q", q.Q).
		number("limit", q.Limit).number("offset", q.Offset).text("cursor", q.Cursor).on("/api/chats")
	return getPage[bridge.Chat](ctx, c, path, "chats")
}

// AllChats returns all chats from the page of q on. Limit is the size of a
// page.
func (c *Client) AllChats(ctx context.Context, q bridge.ChatQuery) iter.Seq2[bridge.Chat, error] {
	return pages(func(cursor *string) (bridge.Page[bridge.Chat], error) {
		if cursor != nil {
			q.Cursor, q.Offset = *cursor, 0
		}
		return c.Chats(ctx, q)
	})
}

// Chat returns one chat.
func (c *Client) Chat(ctx context.Context, jid bridge.JID) (bridge.Chat, error) {
	return call[bridge.Chat](ctx, c, http.MethodGet, "/api/chats/"+jid.Escaped(), nil)
}

// GroupDetail is a group as it is stored, and as the network shows it now: Live
// is nil where the network could not be asked.
type GroupDetail struct {
	JID    bridge.JID
	Stored bridge.StoredGroup
	Live   *bridge.Group
}

// Group returns a group with its members.
func (c *Client) Group(ctx context.Context, jid bridge.JID) (GroupDetail, error) {
	return call[GroupDetail](ctx, c, http.MethodGet, "/api/groups/"+jid.Escaped(), nil)
}

// Contacts returns a page of the people whom the store knows, by name. Zero values
// are the API's defaults.
func (c *Client) Contacts(ctx context.Context, q bridge.ContactQuery) (bridge.Page[bridge.KnownContact], error) {
	path := newParams().text("q", q.Q).number("limit", q.Limit).text("cursor", q.Cursor).on("/api/contacts")
	return getPage[bridge.KnownContact](ctx, c, path, "contacts")
}

// Contact returns one person.
func (c *Client) Contact(ctx context.Context, jid bridge.JID) (bridge.KnownContact, error) {
	return call[bridge.KnownContact](ctx, c, http.MethodGet, "/api/contacts/"+jid.Escaped(), nil)
}

// Calls returns a page of the calls to the account, the newest first. Zero values
// are the API's defaults.
func (c *Client) Calls(ctx context.Context, q bridge.CallQuery) (bridge.Page[bridge.Call], error) {
	path := newParams().text("chat", string(q.Chat)).moment("since", q.Since).
		number("limit", q.Limit).text("cursor", q.Cursor).on("/api/calls")
	return getPage[bridge.Call](ctx, c, path, "calls")
}

// RejectCall rejects a call that rings. The key is as that of Send.
func (c *Client) RejectCall(ctx context.Context, id, key string) error {
	return c.callOnce(ctx, http.MethodPost, "/api/calls/"+bridge.PathID(id)+"/reject", nil, key, nil)
}

// MarkRead marks a chat as read up to the message with an id, or all of it where that
// is empty, and shows that to those who wrote.
func (c *Client) MarkRead(ctx context.Context, chat bridge.JID, upTo, key string) error {
	body := struct {
		MsgID string `json:"msgId,omitempty"`
	}{upTo}
	return c.callOnce(ctx, http.MethodPost, "/api/chats/"+chat.Escaped()+"/read", body, key, nil)
}

// Type shows the account as typing or recording in a chat for a while, or no longer.
func (c *Client) Type(ctx context.Context, chat bridge.JID, state bridge.TypingState, key string) error {
	body := map[string]any{"state": state}
	return c.callOnce(ctx, http.MethodPost, "/api/chats/"+chat.Escaped()+"/typing", body, key, nil)
}
