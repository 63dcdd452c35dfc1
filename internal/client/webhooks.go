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
	var answer struct{ Webhooks []bridge.Webhook }
	err := c.Call(ctx, http.MethodGet, "/api/webhooks", nil, &answer)
	return answer.Webhooks, err
}

// Webhook returns one webhook.
func (c *Client) Webhook(ctx context.Context, id int64) (hook bridge.Webhook, err error) {
	err = c.Call(ctx, http.MethodGet, webhookPath(id), nil, &hook)
	return hook, err
}

// CreateWebhook makes a webhook and returns it with its secret.
func (c *Client) CreateWebhook(ctx context.Context, change WebhookChange) (hook Webhook, err error) {
	err = c.Call(ctx, http.MethodPost, "/api/webhooks", change, &hook)
	return hook, err
}

// UpdateWebhook changes a webhook. The secret is returned where it was made new.
func (c *Client) UpdateWebhook(ctx context.Context, id int64, change WebhookChange) (hook Webhook, err error) {
	err = c.Call(ctx, http.MethodPatch, webhookPath(id), change, &hook)
	return hook, err
}

// DeleteWebhook removes a webhook.
func (c *Client) DeleteWebhook(ctx context.Context, id int64) error {
	return c.Call(ctx, http.MethodDelete, webhookPath(id), nil, nil)
}

// TestWebhook posts a test, and returns what the receiver made of it.
func (c *Client) TestWebhook(ctx context.Context, id int64) (tried Tried, err error) {
	err = c.Call(ctx, http.MethodPost, webhookPath(id)+"/test", nil, &tried)
	return tried, err
}

type deliveriesAnswer struct {
	Deliveries []bridge.WebhookDelivery
	NextCursor *string
}

func (a *deliveriesAnswer) page() bridge.Page[bridge.WebhookDelivery] {
	return bridge.Page[bridge.WebhookDelivery]{Items: a.Deliveries, NextCursor: a.NextCursor}
}

// Deliveries returns a page of a webhook's deliveries, the newest first.
func (c *Client) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	path := newParams().text("status", string(q.Status)).number("limit", q.Limit).text("cursor", q.Cursor).
		on(webhookPath(q.Webhook) + "/deliveries")
	return getPage(ctx, c, path, new(deliveriesAnswer))
}

// Redeliver posts an event again.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery int64) (again bridge.WebhookDelivery, err error) {
	path := webhookPath(webhook) + "/deliveries/" + strconv.FormatInt(delivery, 10) + "/redeliver"
	err = c.Call(ctx, http.MethodPost, path, nil, &again)
	return again, err
}
