package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// LogState changes when events are removed (Pruned is the last that was), and when two
// chats become one.
type LogState struct{ Pruned, Merges int64 }

func (r *readTx) logState() LogState {
	return LogState{Pruned: readNumber(r.Conn, settingPruned), Merges: readNumber(r.Conn, settingMerges)}
}

// EventRef names an event and the queue that it belongs to.
type EventRef struct {
	ID    int64
	Type  bridge.EventType
	At    bridge.Time
	Queue int64
}

// EventRefs is a part of the log without its content. Next and More are as in [EventPage].
type EventRefs struct {
	Webhook bridge.Webhook // its settings
	Refs    []EventRef
	Next    int64
	More    bool
	Log     LogState
}

// EventRefs reads the events after a number that a webhook wants:
// [bridge.CodeNotFound] when it is gone, or the token that made it has expired.
func (s *Store) EventRefs(ctx context.Context, webhook, after int64, limit int) (EventRefs, error) {
	return readAs(ctx, s, "read the log", func(r *readTx) EventRefs {
		page := EventRefs{Next: after, Log: r.logState(), Webhook: r.liveWebhook(webhook)}
		last, pruned := lastEvent(r.Conn)
		if after >= last {
			return page
		}
		q := EventQuery{EventFilter: page.Webhook.EventFilter, Only: page.Webhook.Only, Limit: limit}
		entries, next := r.entries(q, max(after, pruned), last)
		for _, e := range entries {
			page.Refs = append(page.Refs, EventRef{ID: e.id, Type: typeOf(e.kind), At: bridge.Millis(e.at), Queue: e.chat})
		}
		page.Next, page.More = next, next < last
		return page
	})
}

// Post is all that one try of a delivery needs, of one snapshot.
type Post struct {
	Webhook bridge.Webhook // its settings
	Event   bridge.Event
	Shown   bool // the event is in the log and has content, and the webhook wants it
	Log     LogState
}

// Post reads a webhook and an event to post; event 0 is none. It fails with
// [bridge.CodeNotFound] when the webhook is gone, or the token that made it has expired.
func (s *Store) Post(ctx context.Context, webhook, event int64) (Post, error) {
	return readAs(ctx, s, "read an event to post", func(r *readTx) Post {
		p := Post{Log: r.logState(), Webhook: r.liveWebhook(webhook)}
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

// PendingQueues are the queues of deliveries that are pending for a webhook.
type PendingQueues struct {
	Webhook  bridge.Webhook           // its settings
	Heads    []bridge.WebhookDelivery // the first of each queue
	More     bool                     // there are queues beyond the limit
	InFlight map[int64]int64          // queues by the events that were asked for
	Log      LogState
}

// pendingHeadsQuery walks the index of what is pending; the other columns are
// those of the row with the lowest event.
var pendingHeadsQuery = fmt.Sprintf(`
	SELECT d.id, d.webhook, min(d.event), d.event_at, d.type, d.chat, d.status, d.attempts,
		d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms
	FROM deliveries d WHERE d.webhook = ? AND d.status = %d GROUP BY d.chat_id`, webhookPending) + db.Limited

// PendingQueues reads the queues of a webhook, at most limit of them, and the queues of
// the events in flight: [bridge.CodeNotFound] when the webhook is gone.
func (s *Store) PendingQueues(ctx context.Context, webhook int64, limit int, inFlight []int64) (PendingQueues, error) {
	return readAs(ctx, s, "read pending deliveries", func(r *readTx) PendingQueues {
		p := PendingQueues{Log: r.logState(), Webhook: findWebhook(r.Conn, webhook), InFlight: make(map[int64]int64)}
		p.Heads = db.Collect(r.Conn, s.scanDelivery, pendingHeadsQuery, webhook, limit+1)
		if p.More = len(p.Heads) > limit; p.More {
			p.Heads = p.Heads[:limit]
		}
		for _, event := range inFlight {
			var queue int64
			if r.Find("SELECT chat_id FROM deliveries WHERE webhook = ? AND event = ? AND status = ?", []any{webhook, event, webhookPending}, &queue) {
				p.InFlight[event] = queue
			}
		}
		return p
	})
}

var pendingOfQuery = "SELECT " + deliveryColumns + fmt.Sprintf(` FROM deliveries d
	WHERE d.webhook = ? AND d.status = %d AND d.chat_id = ? AND d.event > ? ORDER BY d.event`, webhookPending) + db.Limited

// PendingOf reads what is pending in a queue behind an event, in order.
func (s *Store) PendingOf(ctx context.Context, webhook, queue, after int64, limit int) (list []bridge.WebhookDelivery, state LogState, err error) {
	list, err = readAs(ctx, s, "read a queue of deliveries", func(r *readTx) []bridge.WebhookDelivery {
		state = r.logState()
		return db.Collect(r.Conn, s.scanDelivery, pendingOfQuery, webhook, queue, after, limit)
	})
	return list, state, err
}

// LoseDeliveries puts a reset in place of events that were removed from the log before
// a webhook got them, and reports whether there were any.
func (s *Store) LoseDeliveries(ctx context.Context, webhook int64) (bool, error) {
	lost, err := readAs(ctx, s, "look for lost deliveries", func(r *readTx) (lost bool) {
		r.Find(hasLostQuery, []any{webhook, r.logState().Pruned}, &lost)
		return lost
	})
	if err != nil || !lost {
		return false, err
	}
	err = s.writeAs(ctx, "replace lost deliveries", func(t *writeTx) { t.loseDeliveries(webhook) })
	return err == nil, err
}

var hasLostQuery = fmt.Sprintf(`
	SELECT EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?1 AND status = %d AND event <= ?2 AND type != '%s')
		OR EXISTS (SELECT 1 FROM webhooks WHERE id = ?1 AND cursor < ?2)`, webhookPending, bridge.EventReset)

// loseDeliveries leaves one reset, also in place of an older one that is still pending.
func (t *writeTx) loseDeliveries(webhook int64) {
	pruned := readNumber(t.Conn, settingPruned)
	t.Run("DELETE FROM deliveries WHERE webhook = ? AND event <= ?", webhook, pruned)
	if t.Change("UPDATE webhooks SET cursor = max(cursor, ?) WHERE id = ?", pruned, webhook) == 0 {
		t.Fail(noWebhook(webhook))
	}
	now := bridge.Millis(t.at)
	t.saveDelivery(webhook, bridge.WebhookDelivery{
		EventID: pruned, EventType: bridge.EventReset, EventAt: now, Status: bridge.WebhookPending, NextAttemptAt: &now,
	})
}
