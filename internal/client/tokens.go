package client

import (
	"context"
	"net/http"
	"strconv"

	"bridged/internal/bridge"
)

// NewToken describes a token to make. Chats of nil are all.
type NewToken struct {
	Name      string         `json:"name"`
	Scopes    []bridge.Scope `json:"scopes"`
	Chats     []bridge.JID   `json:"chats"`
	ExpiresAt *bridge.Time   `json:"expiresAt"`
}

// MadeToken is a new token with its secret, which is shown once.
type MadeToken struct {
	bridge.Token
	Secret string
}

// Tokens returns the tokens that the caller may see.
func (c *Client) Tokens(ctx context.Context) ([]bridge.Token, error) {
	return getAll[bridge.Token](ctx, c, "/api/tokens", "tokens")
}

// CreateToken makes a token and returns it with its secret.
func (c *Client) CreateToken(ctx context.Context, token NewToken) (MadeToken, error) {
	return call[MadeToken](ctx, c, http.MethodPost, "/api/tokens", token)
}

// RevokeToken ends a token and all that was made with it.
func (c *Client) RevokeToken(ctx context.Context, id int64) error {
	return c.Call(ctx, http.MethodDelete, "/api/tokens/"+strconv.FormatInt(id, 10), nil, nil)
}

// OwnToken returns what the client's own token may do. Its id is 0.
func (c *Client) OwnToken(ctx context.Context) (bridge.Token, error) {
	return call[bridge.Token](ctx, c, http.MethodGet, "/api/token", nil)
}
