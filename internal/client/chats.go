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
	path := query{"type": string(q.Type), "q": q.Q, "limit": number(q.Limit), "offset": number(q.Offset), "cursor": q.Cursor}.on("/api/chats")
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
	path := query{"q": q.Q, "limit": number(q.Limit), "cursor": q.Cursor}.on("/api/contacts")
	return getPage[bridge.KnownContact](ctx, c, path, "contacts")
}

// Calls returns a page of the calls to the account, the newest first. Zero values
// are the API's defaults.
func (c *Client) Calls(ctx context.Context, q bridge.CallQuery) (bridge.Page[bridge.Call], error) {
	path := query{"chat": string(q.Chat), "since": moment(q.Since), "limit": number(q.Limit), "cursor": q.Cursor}.on("/api/calls")
	return getPage[bridge.Call](ctx, c, path, "calls")
}

// RejectCall rejects a call that rings. The key is as that of Send.
func (c *Client) RejectCall(ctx context.Context, id, key string) error {
	return c.CallOnce(ctx, http.MethodPost, "/api/calls/"+bridge.PathID(id)+"/reject", nil, key, nil)
}

// MarkRead marks a chat as read up to the message with an id, or all of it where that
// is empty, and shows that to those who wrote.
func (c *Client) MarkRead(ctx context.Context, chat bridge.JID, upTo, key string) error {
	body := struct {
		MsgID string `json:"msgId,omitempty"`
	}{upTo}
	return c.CallOnce(ctx, http.MethodPost, "/api/chats/"+chat.Escaped()+"/read", body, key, nil)
}

// JoinRequests returns the requests to join a group.
func (c *Client) JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	return getAll[bridge.JoinRequest](ctx, c, "/api/groups/"+jid.Escaped()+"/requests", "requests")
}

// DecideJoinRequests approves or rejects people who ask to join a group, and returns
// the result of each.
func (c *Client) DecideJoinRequests(ctx context.Context, jid bridge.JID, action bridge.ParticipantAction, people []bridge.JID, key string) ([]bridge.ParticipantResult, error) {
	var answer struct{ Participants []bridge.ParticipantResult }
	body := map[string]any{"action": action, "participants": people}
	err := c.CallOnce(ctx, http.MethodPost, "/api/groups/"+jid.Escaped()+"/requests", body, key, &answer)
	return answer.Participants, err
}
