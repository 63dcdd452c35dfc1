package api

import (
	"context"
	"iter"
	"time"

	"bridged/internal/store"
)

// logPage is what following the log found: a page, or that there was nothing for a
// while.
type logPage struct {
	store.EventPage
	quiet bool
}

// follow returns the log of events from q.After on, page by page, and what is
// added to it as it grows. It is the one loop of streams and of pages that are
// waited for: replay and live are the same, so nothing comes twice and nothing
// is left out. Whenever pause has passed it returns a quiet one. It ends with
// an error, or without one when the service stops.
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
