package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"

	"bridged/internal/bridge"
)

// NewToken describes a token to create. nil for Chats means all chats.
type NewToken struct {
	Name      string         `json:"name"`
	Scopes    []bridge.Scope `json:"scopes"`
	Chats     []bridge.JID   `json:"chats"`
	ExpiresAt *bridge.Time   `json:"expiresAt"`
}

// MadeToken is a new token with its secret, which is shown only once.
type MadeToken struct {
	bridge.Token
	Secret string `json:"secret"`
}

// Tokens returns the tokens that the caller may see.
func (c *Client) Tokens(ctx context.Context) ([]bridge.Token, error) {
	return getAll[bridge.Token](ctx, c, "/api/tokens", "tokens")
}

// CreateToken creates a token and returns it with its secret.
func (c *Client) CreateToken(ctx context.Context, token NewToken) (MadeToken, error) {
	return call[MadeToken](ctx, c, http.MethodPost, "/api/tokens", token)
}

// RevokeToken revokes a token and all tokens, hooks and webhooks that were created with it.
func (c *Client) RevokeToken(ctx context.Context, id int64) error {
	return c.Call(ctx, http.MethodDelete, "/api/tokens/"+strconv.FormatInt(id, 10), nil, nil)
}

// OwnToken describes the caller's token, without its id, and the account, which is nil if none is
// paired.
type OwnToken struct {
	bridge.Token
	Account *bridge.User
}

// OwnToken returns the client's own token.
func (c *Client) OwnToken(ctx context.Context) (OwnToken, error) {
	return call[OwnToken](ctx, c, http.MethodGet, "/api/token", nil)
}

// Hook is an incoming webhook with its URL, which is only set if it is new.
type Hook struct {
	bridge.Hook
	URL  string
	Path string
}

// HookChange sets fields of an incoming webhook. Nil fields stay unchanged, or get their default.
type HookChange struct {
	Name      *string `json:"name,omitempty"`
	ChatJID   *string `json:"chatJid,omitempty"`
	Template  *string `json:"template,omitempty"`
	Secret    *string `json:"secret,omitempty"`
	Enabled   *bool   `json:"enabled,omitempty"`
	RotateKey bool    `json:"rotateKey,omitempty"`
}

func hookPath(id int64) string { return "/api/hooks/" + strconv.FormatInt(id, 10) }

// Hooks returns the incoming webhooks that the caller may see.
func (c *Client) Hooks(ctx context.Context) ([]bridge.Hook, error) {
	return getAll[bridge.Hook](ctx, c, "/api/hooks", "hooks")
}

// Hook returns one incoming webhook.
func (c *Client) Hook(ctx context.Context, id int64) (bridge.Hook, error) {
	return call[bridge.Hook](ctx, c, http.MethodGet, hookPath(id), nil)
}

// CreateHook creates an incoming webhook and returns it with its URL.
func (c *Client) CreateHook(ctx context.Context, change HookChange) (Hook, error) {
	return call[Hook](ctx, c, http.MethodPost, "/api/hooks", change)
}

// UpdateHook changes an incoming webhook. It returns the URL if a new one was made.
func (c *Client) UpdateHook(ctx context.Context, id int64, change HookChange) (Hook, error) {
	return call[Hook](ctx, c, http.MethodPatch, hookPath(id), change)
}

// DeleteHook removes an incoming webhook.
func (c *Client) DeleteHook(ctx context.Context, id int64) error {
	return c.Call(ctx, http.MethodDelete, hookPath(id), nil, nil)
}

// PreviewHook returns the text that a JSON payload would become.
func (c *Client) PreviewHook(ctx context.Context, id int64, payload json.RawMessage, headers map[string]string) (string, error) {
	var answer struct{ Text string }
	body := struct {
		Payload json.RawMessage   `json:"payload"`
		Headers map[string]string `json:"headers"`
	}{payload, headers}
	err := c.Call(ctx, http.MethodPost, hookPath(id)+"/preview", body, &answer)
	return answer.Text, err
}

// Webhook is a webhook with its secret, which is only set if it is new.
type Webhook struct {
	bridge.Webhook
	Secret string
}

// WebhookChange sets fields of a webhook. Nil fields stay unchanged, or get their default. Empty
// lists mean all events, all chats and no chats. FromMe points to nil for both.
type WebhookChange struct {
	URL          *string             `json:"url,omitempty"`
	Types        *[]bridge.EventType `json:"types,omitempty"`
	Chats        *[]string           `json:"chats,omitempty"`
	ExcludeChats *[]string           `json:"excludeChats,omitempty"`
	ChatType     *bridge.ChatType    `json:"chatType,omitempty"`
	FromMe       **bool              `json:"fromMe,omitempty"`

	Format  *bridge.WebhookFormat `json:"format,omitempty"`
	Options *bridge.FormatOptions `json:"formatOptions,omitempty"`
	Secret  *string               `json:"secret,omitempty"`

	After        string `json:"after,omitempty"` // where in the log a new webhook begins; "" for its end
	AllowPrivate *bool  `json:"allowPrivate,omitempty"`
	Enabled      *bool  `json:"enabled,omitempty"`
	RotateSecret bool   `json:"rotateSecret,omitempty"`
	DryRun       bool   `json:"dryRun,omitempty"` // only check that the change would not be refused
}

// Tried is the result of a webhook's test.
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

// CreateWebhook creates a webhook and returns it with its secret.
func (c *Client) CreateWebhook(ctx context.Context, change WebhookChange) (Webhook, error) {
	return call[Webhook](ctx, c, http.MethodPost, "/api/webhooks", change)
}

// UpdateWebhook changes a webhook. It returns the secret if a new one was made.
func (c *Client) UpdateWebhook(ctx context.Context, id int64, change WebhookChange) (Webhook, error) {
	return call[Webhook](ctx, c, http.MethodPatch, webhookPath(id), change)
}

// DeleteWebhook removes a webhook.
func (c *Client) DeleteWebhook(ctx context.Context, id int64) error {
	return c.Call(ctx, http.MethodDelete, webhookPath(id), nil, nil)
}

// TestWebhook posts a test event and returns the receiver's answer.
func (c *Client) TestWebhook(ctx context.Context, id int64) (Tried, error) {
	return call[Tried](ctx, c, http.MethodPost, webhookPath(id)+"/test", nil)
}

// Deliveries returns a page of a webhook's deliveries, the newest first.
func (c *Client) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	path := query{"status": string(q.Status), "limit": number(q.Limit), "cursor": q.Cursor}.on(webhookPath(q.Webhook) + "/deliveries")
	return getPage[bridge.WebhookDelivery](ctx, c, path, "deliveries")
}

// AllDeliveries returns all deliveries from the page of q on, in pages of q.Limit.
func (c *Client) AllDeliveries(ctx context.Context, q bridge.DeliveryQuery) iter.Seq2[bridge.WebhookDelivery, error] {
	return pages(func() (bridge.Page[bridge.WebhookDelivery], error) { return c.Deliveries(ctx, q) }, &q.Cursor, new(int))
}

// Redeliver posts an event again.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery int64) (bridge.WebhookDelivery, error) {
	path := webhookPath(webhook) + "/deliveries/" + strconv.FormatInt(delivery, 10) + "/redeliver"
	return call[bridge.WebhookDelivery](ctx, c, http.MethodPost, path, nil)
}
