package client

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

type callsAnswer struct {
	Calls      []bridge.Call
	NextCursor *string
}

func (a *callsAnswer) page() bridge.Page[bridge.Call] {
	return bridge.Page[bridge.Call]{Items: a.Calls, NextCursor: a.NextCursor}
}

// Calls returns a page of the calls to the account, the newest first. Zero values
// are the API's defaults.
func (c *Client) Calls(ctx context.Context, q bridge.CallQuery) (bridge.Page[bridge.Call], error) {
	path := newParams().text("chat", string(q.Chat)).moment("since", q.Since).
		number("limit", q.Limit).text("cursor", q.Cursor).on("/api/calls")
	return getPage(ctx, c, path, new(callsAnswer))
}

// RejectCall rejects a call that rings. The key is as that of Send.
func (c *Client) RejectCall(ctx context.Context, id, key string) error {
	return c.callOnce(ctx, http.MethodPost, "/api/calls/"+bridge.PathID(id)+"/reject", nil, key, nil)
}
