package read

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

// EventRef is an event of the log without its content.
type EventRef struct {
	ID    int64
	Type  bridge.EventType
	At    bridge.Time
	Queue int64 // of its chat
}

// EventRefs is a page of the log without the content of its events. See [EventPage] for Next and More.
type EventRefs struct {
	Webhook bridge.Webhook // its settings
	Refs    []EventRef
	Next    int64
	More    bool
	Log     settings.LogState
}

// EventRefs reads the events after a number that a webhook subscribes to. It fails with
// [bridge.CodeNotFound] if the webhook was removed, or the token that created it has expired.
func (s *Reader) EventRefs(ctx context.Context, webhook, after int64, limit int) (EventRefs, error) {
	return As(ctx, s, "read the log", func(r *Snapshot) EventRefs {
		page := EventRefs{Next: after, Log: settings.ReadLogState(r.Conn), Webhook: settings.LiveWebhook(r.Conn, webhook, s.o.Now())}
		last, pruned := settings.LastEvent(r.Conn)
		if after >= last {
			return page
		}
		q := EventQuery{EventFilter: page.Webhook.EventFilter, Only: page.Webhook.Only, Limit: limit}
		entries, next := r.entries(q, max(after, pruned), last)
		for _, e := range entries {
			page.Refs = append(page.Refs, EventRef{ID: e.id, Type: e.Event, At: bridge.Millis(e.at), Queue: e.Chat})
		}
		page.Next, page.More = next, next < last
		return page
	})
}

// Post is a webhook and an event from one snapshot, for one try of a delivery.
type Post struct {
	Webhook bridge.Webhook // its settings
	Event   bridge.Event
	Shown   bool // the event is in the log and has content, and the webhook subscribes to it
	Log     settings.LogState
}

// Post reads a webhook, and an event unless its number is 0. It fails with [bridge.CodeNotFound] if
// the webhook was removed, or the token that created it has expired.
func (s *Reader) Post(ctx context.Context, webhook, event int64) (Post, error) {
	return As(ctx, s, "read an event to post", func(r *Snapshot) Post {
		p := Post{Log: settings.ReadLogState(r.Conn), Webhook: settings.LiveWebhook(r.Conn, webhook, s.o.Now())}
		if event == 0 {
			return p
		}
		r.limitTo(p.Webhook.Only)
		entries, _ := r.entries(EventQuery{EventFilter: p.Webhook.EventFilter, Only: p.Webhook.Only, Limit: 1}, event-1, event)
		if events, _ := r.render(entries, nil); len(events) > 0 {
			p.Event, p.Shown = events[0], true
		}
		return p
	})
}
