package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"bridged/internal/bridge"
)

// Hook is a hook with its address, which is empty but where it was made new.
type Hook struct {
	bridge.Hook
	URL  string
	Path string
}

// HookChange is what is set of a hook; what is nil stays as it is, or has its
// default.
type HookChange struct {
	Name      *string `json:"name,omitempty"`
	ChatJID   *string `json:"chatJid,omitempty"`
	Template  *string `json:"template,omitempty"`
	Secret    *string `json:"secret,omitempty"`
	Enabled   *bool   `json:"enabled,omitempty"`
	RotateKey bool    `json:"rotateKey,omitempty"`
}

func hookPath(id int64) string { return "/api/hooks/" + strconv.FormatInt(id, 10) }

// Hooks returns the hooks that the caller may see.
func (c *Client) Hooks(ctx context.Context) ([]bridge.Hook, error) {
	return getAll[bridge.Hook](ctx, c, "/api/hooks", "hooks")
}

// Hook returns one hook.
func (c *Client) Hook(ctx context.Context, id int64) (bridge.Hook, error) {
	return call[bridge.Hook](ctx, c, http.MethodGet, hookPath(id), nil)
}

// CreateHook makes a hook and returns it with its address.
func (c *Client) CreateHook(ctx context.Context, change HookChange) (Hook, error) {
	return call[Hook](ctx, c, http.MethodPost, "/api/hooks", change)
}

// UpdateHook changes a hook. The address is returned where it was made new.
func (c *Client) UpdateHook(ctx context.Context, id int64, change HookChange) (Hook, error) {
	return call[Hook](ctx, c, http.MethodPatch, hookPath(id), change)
}

// DeleteHook removes a hook.
func (c *Client) DeleteHook(ctx context.Context, id int64) error {
	return c.Call(ctx, http.MethodDelete, hookPath(id), nil, nil)
}

// PreviewHook returns the text that a payload in JSON would become.
func (c *Client) PreviewHook(ctx context.Context, id int64, payload json.RawMessage, headers map[string]string) (string, error) {
	var answer struct{ Text string }
	body := struct {
		Payload json.RawMessage   `json:"payload"`
		Headers map[string]string `json:"headers"`
	}{payload, headers}
	err := c.Call(ctx, http.MethodPost, hookPath(id)+"/preview", body, &answer)
	return answer.Text, err
}
