package client

import (
	"context"
	"net/http"
	"time"

	"bridged/internal/bridge"
)

// Status returns the account's status.
func (c *Client) Status(ctx context.Context) (status bridge.Status, err error) {
	err = c.Call(ctx, http.MethodGet, "/api/auth/status", nil, &status)
	return status, err
}

// Pair asks for a pairing code for a phone number, or for the one that is
// configured if phone is empty.
func (c *Client) Pair(ctx context.Context, phone string) (code bridge.PairingCode, err error) {
	var body any
	if phone != "" {
		body = map[string]string{"phone": phone}
	}
	err = c.Call(ctx, http.MethodPost, "/api/auth/pair", body, &code)
	return code, err
}

// Reconnect asks the bridge to dial at once.
func (c *Client) Reconnect(ctx context.Context) error {
	return c.Call(ctx, http.MethodPost, "/api/auth/reconnect", nil, nil)
}

// WaitState asks for the status, first every poll, until the account has a
// state.
func (c *Client) WaitState(ctx context.Context, want bridge.State, poll time.Duration) (bridge.Status, error) {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		status, err := c.Status(ctx)
		if err != nil || status.Status == want {
			return status, err
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-ticker.C:
		}
	}
}
