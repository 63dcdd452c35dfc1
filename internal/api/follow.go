package api

import (
	"context"
	"iter"
	"time"

	"bridged/internal/store"
)

// logPage is a page of the log, or quiet: there was nothing for a while.
type logPage struct {
	store.EventPage
	quiet bool
}

// follow returns the log behind q.After, page by page, also as it grows, and a quiet page
// after each pause. Streams and waits read old and new events in this one loop, so that
// none comes twice or is left out. It ends with an error, or without one when the service
// stops.
func (s *server) follow(ctx context.Context, q store.EventQuery, pause time.Duration) iter.Seq2[logPage, error] {
	return func(yield func(logPage, error) bool) {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		for {
			changed := s.Store.Changed() // before reading: what comes meanwhile is read next time
			for more := true; more; {
				page, err := s.Store.Events(ctx, q)
				if !yield(logPage{EventPage: page}, err) || err != nil {
					return
				}
				q.After, more = page.Next, page.More
			}
			select {
			case <-changed:
			case <-timer.C:
				if !yield(logPage{EventPage: store.EventPage{Next: q.After}, quiet: true}, nil) {
					return
				}
				timer.Reset(pause)
			case <-s.Streams.Done():
				return
			case <-ctx.Done():
				yield(logPage{}, ctx.Err())
				return
			}
		}
	}
}
