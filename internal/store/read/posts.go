package read

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

// WebhookWork lists the next steps of a webhook, read from one snapshot.
type WebhookWork struct {
	Webhook bridge.Webhook // its settings
	Lost    bool           // events were removed from the log before they were delivered: see LoseDeliveries
	// New holds the deliveries of the events after the one asked for that the webhook subscribes
	// to. They are not stored yet. See [EventPage] for Next and More.
	New  []bridge.WebhookDelivery
	Next int64
	More bool
	Due  []bridge.WebhookDelivery // see [settings.Due]
	Log  settings.LogState
}

// WebhookWork reads what a webhook can do next; after is the last event that it has read from the
// log. It fails with [bridge.CodeNotFound] if the webhook was removed, or the token that created it
// has expired.
func (s *Reader) WebhookWork(ctx context.Context, q settings.DueQuery, after int64, limit int) (WebhookWork, error) {
	return As(ctx, s, "read the work of a webhook", func(r *Snapshot) WebhookWork {
		work := WebhookWork{Log: settings.ReadLogState(r.Conn), Webhook: settings.LiveWebhook(r.Conn, q.Webhook, s.o.Now())}
		after = max(after, work.Webhook.Cursor)
		work.Lost, work.Next = settings.HasLost(r.Conn, q.Webhook, after), after
		if !work.Webhook.Enabled || work.Lost {
			return work
		}
		work.Due = settings.Due(r.Conn, q)
		last, _ := settings.LastEvent(r.Conn)
		if after >= last {
			return work
		}
		entries, next := r.entries(EventQuery{EventFilter: work.Webhook.EventFilter, Only: work.Webhook.Only, Limit: limit}, after, last)
		for _, e := range entries {
			work.New = append(work.New, bridge.WebhookDelivery{
				WebhookID: q.Webhook, EventID: e.id, EventType: e.Event, EventAt: bridge.Millis(e.at), Queue: e.Chat,
				Status: bridge.WebhookPending,
			})
		}
		work.Next, work.More = next, next < last
		return work
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
