// Package stream sends the log of events to its readers: as server-sent events, and in pages to
// callers that poll. Streams also get the events of [Live], which are not stored.
package stream

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

// Log is the log of events as the API serves it.
type Log struct {
	Store *store.Store
	Lists front.Answers
	Live  *Live
	Open  prometheus.Gauge // how many streams are open

	// Stopping ends streams, which would delay a shutdown.
	Stopping context.Context
}

// Query says which events a reader wants, and where in the log it begins.
type Query struct {
	store.EventQuery
	HasCursor bool  // the reader has read before, so it must learn of lost events
	FromNow   bool  // begins at the end of the log
	Tree      int64 // the token tree of the reader

	memory *front.Memory // of the page that is being read
	live   *liveReader   // nil for pages
}

// Accepts reports whether the caller accepts text/event-stream by name.
func Accepts(r *http.Request) bool {
	for accepted := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		mediaType, _, _ := strings.Cut(accepted, ";")
		if strings.EqualFold(strings.TrimSpace(mediaType), "text/event-stream") {
			return true
		}
	}
	return false
}

// Poll returns the first page that has an event or a reset. It returns an empty page after wait,
// or when the service stops. The page is reserved in memory.
func (l *Log) Poll(ctx context.Context, q Query, memory *front.Memory, wait time.Duration) (store.EventPage, error) {
	if err := l.begin(ctx, &q); err != nil {
		return store.EventPage{}, err
	}
	q.memory = memory
	page, reset := store.EventPage{Next: q.After}, false
	for got, err := range l.follow(ctx, q, wait) {
		if err != nil {
			return page, err
		}
		page = got.EventPage
		reset = reset || page.Reset && q.HasCursor
		if len(page.Events) > 0 || reset && !page.More || got.quiet {
			break
		}
	}
	page.Reset = reset
	return page, nil
}

// begin moves a reader that only wants new events to the end of the log.
func (l *Log) begin(ctx context.Context, q *Query) (err error) {
	if q.FromNow {
		q.After, err = l.Store.LastEvent(ctx)
	}
	return err
}

// update is a page of the log or live events. It is quiet if a pause passed without events.
type update struct {
	store.EventPage
	quiet bool
	live  []bridge.LiveEvent
}

// follow returns the log after q.After page by page as it grows, and a quiet update after each
// pause. It ends with an error, or without one when the service stops. Streams and polls use
// the same loop, so that no event is repeated or lost.
func (l *Log) follow(ctx context.Context, q Query, pause time.Duration) iter.Seq2[update, error] {
	return func(yield func(update, error) bool) {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		for {
			changed := l.Store.Changed() // before reading, so that later events are read in the next round
			for more := true; more; {
				page, err := l.read(ctx, q)
				if !yield(update{EventPage: page}, err) || err != nil {
					return
				}
				q.After, more = page.Next, page.More
			}
			q.memory.Release()
			select {
			case <-changed:
			case <-q.live.news():
				if !yield(update{EventPage: store.EventPage{Next: q.After}, live: q.live.take()}, nil) {
					return
				}
			case <-timer.C:
				if !yield(update{EventPage: store.EventPage{Next: q.After}, quiet: true}, nil) {
					return
				}
				timer.Reset(pause)
			case <-l.Stopping.Done():
				return
			case <-ctx.Done():
				yield(update{}, ctx.Err())
				return
			}
		}
	}
}

// read reads a page of the log within the memory of its reader.
func (l *Log) read(ctx context.Context, q Query) (store.EventPage, error) {
	if err := q.memory.Reserve(ctx, int64(cmp.Or(q.Bytes, bridge.PageBytes))); err != nil {
		return store.EventPage{}, err
	}
	page, err := l.Store.Events(ctx, q.EventQuery)
	q.memory.Shrink(int64(page.Size) + front.ChunkBytes)
	return page, err
}

// liveFor returns the live events that a reader may see and wants.
func (l *Log) liveFor(q Query, events []bridge.LiveEvent) []bridge.LiveEvent {
	isAmong := func(chat bridge.JID, chats []bridge.JID) bool {
		name := l.Store.Canonical(chat)
		return slices.ContainsFunc(chats, func(jid bridge.JID) bool { return l.Store.Canonical(jid) == name })
	}
	return slices.DeleteFunc(events, func(event bridge.LiveEvent) bool {
		return len(q.Types) > 0 && !slices.Contains(q.Types, event.Type) || q.Only != nil && !isAmong(event.ChatJID, q.Only) || len(q.Chats) > 0 && !isAmong(event.ChatJID, q.Chats)
	})
}
