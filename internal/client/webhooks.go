package client

import (
	"context"
	"net/http"
	"strconv"

	"bridged/internal/bridge"
)

// Webhook is a webhook with its secret, which is empty but where it was made
// new.
type Webhook struct {
	bridge.Webhook
	Secret string
}

// WebhookChange is what is set of a webhook; what is nil stays as it is, or has
// its default. Empty lists are all events, all chats, no chats. FromMe points to
// nil for any.
type WebhookChange struct {
	URL          *string             `json:"url,omitempty"`
	Types        *[]bridge.EventType `json:"types,omitempty"`
	Chats        *[]string           `json:"chats,omitempty"`
	ExcludeChats *[]string           `json:"excludeChats,omitempty"`
	ChatType     *bridge.ChatType    `json:"chatType,omitempty"`
	FromMe       **bool              `json:"fromMe,omitempty"`
	AllowPrivate *bool               `json:"allowPrivate,omitempty"`
	Enabled      *bool               `json:"enabled,omitempty"`
	RotateSecret bool                `json:"rotateSecret,omitempty"`
}

// Tried is what became of a test of a webhook.
type Tried struct {
	OK             bool
	ResponseStatus *int
	Error          *string
	DurationMS     int64
}

func webhookPath(id int64) string { return "/api/webhooks/" + strconv.FormatInt(id, 10) }

// Webhooks returns all webhooks.
func (c *Client) Webhooks(ctx context.Context) ([]bridge.Webhook, error) {
	return getAll[bridge.Webhook](ctx, c, "/api/webhooks", "webhooks")
}

// Webhook returns one webhook.
func (c *Client) Webhook(ctx context.Context, id int64) (bridge.Webhook, error) {
	return call[bridge.Webhook](ctx, c, http.MethodGet, webhookPath(id), nil)
}

// CreateWebhook makes a webhook and returns it with its secret.
func (c *Client) CreateWebhook(ctx context.Context, change WebhookChange) (Webhook, error) {
	return call[Webhook](ctx, c, http.MethodPost, "/api/webhooks", change)
}

// UpdateWebhook changes a webhook. The secret is returned where it was made new.
func (c *Client) UpdateWebhook(ctx context.Context, id int64, change WebhookChange) (Webhook, error) {
	return call[Webhook](ctx, c, http.MethodPatch, webhookPath(id), change)
}

// DeleteWebhook removes a webhook.
func (c *Client) DeleteWebhook(ctx context.Context, id int64) error {
	return c.Call(ctx, http.MethodDelete, webhookPath(id), nil, nil)
}

// TestWebhook posts a test, and returns what the receiver made of it.
func (c *Client) TestWebhook(ctx context.Context, id int64) (Tried, error) {
	return call[Tried](ctx, c, http.MethodPost, webhookPath(id)+"/test", nil)
}

// Deliveries returns a page of a webhook's deliveries, the newest first.
func (c *Client) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	path := query{"status": string(q.Status), "limit": number(q.Limit), "cursor": q.Cursor}.on(webhookPath(q.Webhook) + "/deliveries")
	return getPage[bridge.WebhookDelivery](ctx, c, path, "deliveries")
}

// Redeliver posts an event again.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery int64) (bridge.WebhookDelivery, error) {
	path := webhookPath(webhook) + "/deliveries/" + strconv.FormatInt(delivery, 10) + "/redeliver"
	return call[bridge.WebhookDelivery](ctx, c, http.MethodPost, path, nil)
}
