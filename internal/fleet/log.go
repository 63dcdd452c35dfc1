package fleet

import (
	"context"
	"time"

	"bridged/internal/bridge"
)

// Log is the log of events and the fleet's position in it, which is kept beside the
// log, so that a backup holds both as they were at one moment.
type Log interface {
	// Account returns the phone's digits, empty where no account was paired yet.
	Account(ctx context.Context) (string, error)
	// Changed returns a channel that is closed when the log grows. Ask for it
	// before reading.
	Changed() <-chan struct{}
	// Events returns at most limit events after a number, as they are shown now.
	Events(ctx context.Context, after int64, limit int) (Page, error)
	// LastEvent returns the number of the newest event.
	LastEvent(ctx context.Context) (int64, error)
	// Position returns the position that was saved last, the zero value for none.
	Position(ctx context.Context) (Position, error)
	SavePosition(ctx context.Context, p Position) error
}

// Page holds a part of the log. Next is the number to ask after next time: events up to
// it may not be shown any more.
type Page struct {
	Events []bridge.Event
	Next   int64
	More   bool
	// IsReset says that events after the number asked for have left the log, or
	// that the number is beyond its end.
	IsReset bool
}

// Position says how far the log was published: up to Event, as Sequence of a stream that was
// made at Stream. A log that goes on from an old copy gets another LogID.
type Position struct {
	LogID    string    `json:"log"`
	Event    int64     `json:"event"`
	Sequence uint64    `json:"sequence"`
	Stream   time.Time `json:"stream"`
}
