package harness

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/simnet"
)

// SendsMedia sends a file through the API and returns the message's id.
func (c *Cast) SendsMedia(t testing.TB, body Object) simnet.MessageID {
	t.Helper()
	return SentID(t, c.Bridge.Post("/api/messages/send-media", body))
}

// RawPost makes a call whose caller may hang up.
func (p *Process) RawPost(ctx context.Context, path, body, key string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.Address+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.Env["BRIDGE_TOKEN"])
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
