package client

import (
	"context"
	"iter"
	"net/http"

	"bridged/internal/bridge"
)

// Later is a message that is sent at a time. The answer has the id that it will have.
type Later struct {
	Message
	At bridge.Time
}

// MarshalJSON adds the time to the message.
func (l Later) MarshalJSON() ([]byte, error) {
	encoded, err := bridge.EncodeJSON(l.Message)
	if err != nil {
		return nil, err
	}
	return append(l.At.Append(append(encoded[:len(encoded)-1], `,"sendAt":"`...)), `"}`...), nil
}

// Scheduled returns a page of the messages that are sent later, the next one first.
func (c *Client) Scheduled(ctx context.Context, q bridge.ScheduledQuery) (bridge.Page[bridge.ScheduledMessage], error) {
	path := query{"chat": string(q.Chat), "limit": number(q.Limit), "cursor": q.Cursor}.on("/api/scheduled")
	return getPage[bridge.ScheduledMessage](ctx, c, path, "scheduled")
}

// AllScheduled returns all messages that are sent later.
func (c *Client) AllScheduled(ctx context.Context, q bridge.ScheduledQuery) iter.Seq2[bridge.ScheduledMessage, error] {
	return pages(func() (bridge.Page[bridge.ScheduledMessage], error) { return c.Scheduled(ctx, q) }, &q.Cursor, new(int))
}

// ScheduledMessage returns a message that is sent later.
func (c *Client) ScheduledMessage(ctx context.Context, id string) (bridge.ScheduledMessage, error) {
	return call[bridge.ScheduledMessage](ctx, c, http.MethodGet, scheduledPath(id), nil)
}

// ScheduledPatch changes a message that is sent later. Nil fields stay as they are.
type ScheduledPatch struct {
	SendAt   *bridge.Time `json:"sendAt,omitempty"`
	Text     *string      `json:"text,omitempty"`
	Mentions []bridge.JID `json:"mentions,omitempty"`
}

// UpdateScheduled changes a message that is sent later.
func (c *Client) UpdateScheduled(ctx context.Context, id string, patch ScheduledPatch) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodPatch, scheduledPath(id), patch, nil))
}

// CancelScheduled erases a message that is sent later.
func (c *Client) CancelScheduled(ctx context.Context, id string) error {
	return c.Call(ctx, http.MethodDelete, scheduledPath(id), nil, nil)
}

// SendScheduled sends a scheduled message now. For the key see Send.
func (c *Client) SendScheduled(ctx context.Context, id, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodPost, scheduledPath(id)+"/send", nil, keyed(key)))
}

func scheduledPath(id string) string { return "/api/scheduled/" + pathID(id) }
