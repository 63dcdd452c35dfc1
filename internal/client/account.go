package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"bridged/internal/bridge"
)

// statusPoll is the pause between two requests for the status while waiting. QR codes are renewed
// without an event, and a voided one must not stay on a screen.
const statusPoll = 400 * time.Millisecond

// Status returns the account's status.
func (c *Client) Status(ctx context.Context) (bridge.Status, error) {
	return call[bridge.Status](ctx, c, http.MethodGet, "/api/auth/status", nil)
}

// Stats is the response of /api/stats.
type Stats struct {
	Version        string
	Library        string
	GoVersion      string
	StartedAt      bridge.Time
	SendEnabled    bool
	HistoryImport  bridge.HistoryImport
	HistoryPaired  bridge.HistoryImport // requested at pairing; "" if unknown
	Since          bridge.Time
	Received       int          // since Since
	Sent           int          // since Since
	Chats          int          // all that are stored
	Messages       int          // all that are stored
	LastReceivedAt *bridge.Time // nil before the first since StartedAt
	PhoneSeenAt    *bridge.Time // nil if unknown
	StoreBytes     int64
	MediaBytes     int64
	Transcription  *bridge.Transcription // nil without a transcription service
	Backups        *bridge.Backups       // nil without BACKUP_DIR
}

// Stats returns versions, sizes and the counts of messages since a time.
func (c *Client) Stats(ctx context.Context, since bridge.Time) (Stats, error) {
	return call[Stats](ctx, c, http.MethodGet, query{"since": since.String()}.on("/api/stats"), nil)
}

// Pair requests a pairing code for a phone number; "" means the configured one.
func (c *Client) Pair(ctx context.Context, phone string) (bridge.PairingCode, error) {
	var body any
	if phone != "" {
		body = map[string]string{"phone": phone}
	}
	return call[bridge.PairingCode](ctx, c, http.MethodPost, "/api/auth/pair", body)
}

// SubmitPasskey sends the PublicKeyCredential that pairing requests.
func (c *Client) SubmitPasskey(ctx context.Context, credential json.RawMessage) (bridge.PasskeyResult, error) {
	return call[bridge.PasskeyResult](ctx, c, http.MethodPost, "/api/auth/passkey", credential)
}

// ConfirmPasskey confirms that the two codes are the same.
func (c *Client) ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error) {
	return call[bridge.PasskeyResult](ctx, c, http.MethodPost, "/api/auth/passkey", map[string]bool{"confirm": true})
}

// Reconnect makes the bridge dial at once.
func (c *Client) Reconnect(ctx context.Context) error {
	return c.Call(ctx, http.MethodPost, "/api/auth/reconnect", nil, nil)
}

// Logout wipes the session and reports whether the network unlinked the device.
func (c *Client) Logout(ctx context.Context) (unlinked bool, err error) {
	resp, err := c.Do(ctx, http.MethodPost, "/api/auth/logout", nil, http.Header{"X-Confirm-Wipe": {"yes"}})
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	var answer struct{ Unlinked bool }
	if err := c.decode(resp, &answer); err != nil {
		return false, err
	}
	return answer.Unlinked, nil
}

// WaitState waits until the account is in a state, and returns its status then.
func (c *Client) WaitState(ctx context.Context, want bridge.State) (bridge.Status, error) {
	return c.WaitStatus(ctx, func(s bridge.Status) (bool, error) { return s.Status == want, nil })
}

// WaitStatus requests the status until done returns true or an error.
func (c *Client) WaitStatus(ctx context.Context, done func(bridge.Status) (bool, error)) (bridge.Status, error) {
	for {
		status, err := c.Status(ctx)
		if err != nil {
			return status, err
		}
		if over, err := done(status); over || err != nil {
			return status, err
		}
		if !bridge.Sleep(ctx, statusPoll) {
			return status, ctx.Err()
		}
	}
}
