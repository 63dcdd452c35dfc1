package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"bridged/internal/bridge"
)

// statusPoll is the time between two looks at the status while waiting: QR codes are
// renewed without an event, and one that the network voids must not stay on a screen
// for a second.
const statusPoll = 400 * time.Millisecond

// Status returns the account's status.
func (c *Client) Status(ctx context.Context) (bridge.Status, error) {
	return call[bridge.Status](ctx, c, http.MethodGet, "/api/auth/status", nil)
}

// Stats are versions, sizes, and the messages since a moment.
type Stats struct {
	Version     string
	Library     string
	StartedAt   bridge.Time
	SendEnabled bool
	// HistoryPaired is how much history the pairing has asked for; "" where that is
	// not known.
	HistoryImport bridge.HistoryImport
	HistoryPaired bridge.HistoryImport
	Since         bridge.Time
	Received      int
	Sent          int
	StoreBytes    int64
	MediaBytes    int64
}

// Stats returns them since a moment.
func (c *Client) Stats(ctx context.Context, since bridge.Time) (Stats, error) {
	return call[Stats](ctx, c, http.MethodGet, newParams().moment("since", &since).on("/api/stats"), nil)
}

// Pair requests a pairing code for a phone number, or for the one that is
// configured if phone is empty.
func (c *Client) Pair(ctx context.Context, phone string) (bridge.PairingCode, error) {
	var body any
	if phone != "" {
		body = map[string]string{"phone": phone}
	}
	return call[bridge.PairingCode](ctx, c, http.MethodPost, "/api/auth/pair", body)
}

// SubmitPasskey hands in the PublicKeyCredential that pairing asks for.
func (c *Client) SubmitPasskey(ctx context.Context, credential json.RawMessage) (bridge.PasskeyResult, error) {
	return call[bridge.PasskeyResult](ctx, c, http.MethodPost, "/api/auth/passkey", credential)
}

// ConfirmPasskey tells the bridge that a person has compared the two codes.
func (c *Client) ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error) {
	return call[bridge.PasskeyResult](ctx, c, http.MethodPost, "/api/auth/passkey", map[string]bool{"confirm": true})
}

// Reconnect makes the bridge dial at once.
func (c *Client) Reconnect(ctx context.Context) error {
	return c.Call(ctx, http.MethodPost, "/api/auth/reconnect", nil, nil)
}

// Logout wipes the session, and reports whether the network unlinked the device
// too.
func (c *Client) Logout(ctx context.Context) (unlinked bool, err error) {
	resp, err := c.Do(ctx, http.MethodPost, "/api/auth/logout", nil, http.Header{"X-Confirm-Wipe": {"yes"}})
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	var answer struct{ Unlinked bool }
	if err := decode(resp, &answer); err != nil {
		return false, err
	}
	return answer.Unlinked, nil
}

// WaitState waits until the account has a state, and returns the status then.
func (c *Client) WaitState(ctx context.Context, want bridge.State) (bridge.Status, error) {
	return c.WaitStatus(ctx, func(s bridge.Status) (bool, error) { return s.Status == want, nil })
}

// WaitStatus waits until done reports true of the status, or fails. It is shown
// the status whenever that may have changed.
func (c *Client) WaitStatus(ctx context.Context, done func(bridge.Status) (bool, error)) (bridge.Status, error) {
	after, err := c.LastEvent(ctx)
	if err != nil {
		return bridge.Status{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	changed, ended := make(chan struct{}, 1), make(chan struct{})
	defer func() { cancel(); <-ended }()
	go func() {
		defer close(ended)
		for _, err := range c.Events(ctx, EventQuery{After: after, Types: []bridge.EventType{bridge.EventAccountStatus}}) {
			if err != nil {
				return // the next question for the status shows it
			}
			select {
			case changed <- struct{}{}:
			default: // one is waiting
			}
		}
	}()
	ticker := time.NewTicker(c.poll)
	defer ticker.Stop()
	for {
		status, err := c.Status(ctx)
		if err != nil {
			return status, err
		}
		if over, err := done(status); over || err != nil {
			return status, err
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-changed:
		case <-ticker.C:
		}
	}
}
