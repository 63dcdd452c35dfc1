package client

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

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
func (c *Client) Stats(ctx context.Context, since bridge.Time) (stats Stats, err error) {
	err = c.Call(ctx, http.MethodGet, newParams().moment("since", &since).on("/api/stats"), nil, &stats)
	return stats, err
}
