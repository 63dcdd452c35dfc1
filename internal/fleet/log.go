package fleet

import (
	"context"
	"time"

	"bridged/internal/bridge"
)

// Log is the event log with the fleet's position in it. The position is stored in the same
// database, so that a backup contains both as of the same moment.
type Log interface {
	// Account returns the phone number's digits, or "" if no account was paired yet.
	Account(ctx context.Context) (string, error)
	// Changed returns a channel that is closed when the log grows. Call it before reading the
	// log.
	Changed() <-chan struct{}
	// Events returns at most limit events after a number, in their current form.
	Events(ctx context.Context, after int64, limit int) (Page, error)
	// LastEvent returns the number of the newest event.
	LastEvent(ctx context.Context) (int64, error)
	// Position returns the position that was saved last, or the zero value.
	Position(ctx context.Context) (Position, error)
	SavePosition(ctx context.Context, p Position) error
}

// Page is a part of the log. Next is the number to continue after. Events up to Next that are
// missing from the page are not shown any more.
type Page struct {
	Events []bridge.Event
	Next   int64
	More   bool
	// IsReset means that events after the requested number have been removed from the log, or
	// that the number is after the log's end.
	IsReset bool
}

// Position says up to where the log was published: Event is the last event, and Sequence its
// number in the stream that was created at Stream. A log that was restored from an old copy gets
// a new LogID.
type Position struct {
	LogID    string    `json:"log"`
	Event    int64     `json:"event"`
	Sequence uint64    `json:"sequence"`
	Stream   time.Time `json:"stream"`
}
