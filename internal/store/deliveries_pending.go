package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// LogState is what changes under whoever has read a part of the log, or of what
// is pending: how far events were removed, and how often two chats became one.
type LogState struct{ Pruned, Merges int64 }

func (r *readTx) logState(ctx context.Context) (LogState, error) {
	pruned, err := readNumber(ctx, r.conn, settingPruned)
	if err != nil {
		return LogState{}, err
	}
	merges, err := readNumber(ctx, r.conn, settingMerges)
	return LogState{Pruned: pruned, Merges: merges}, err
}

// EventRef names an event and the queue that it belongs to.
type EventRef struct {
	ID    int64
	Type  bridge.EventType
	At    bridge.Time
	Queue int64
}

// EventRefs is a part of the log without its content, as a webhook asks for it.
// Next and More are as in [EventPage].
type EventRefs struct {
	Webhook bridge.Webhook // its settings
	Refs    []EventRef
	Next    int64
	More    bool
	Log     LogState
}

// EventRefs reads which events there are after a number that a webhook wants,
// as it is set at that moment: [bridge.CodeNotFound] when it is gone, or the token
// that made it has expired. It does not tell of events that were removed: that is
// what Log is for.
func (s *Store) EventRefs(ctx context.Context, webhook, after int64, limit int) (EventRefs, error) {
	page := EventRefs{Next: after}
	err := s.read(ctx, func(r *readTx) (err error) {
		if page.Log, err = r.logState(ctx); err != nil {
			return err
		}
		if page.Webhook, err = r.liveWebhook(ctx, webhook); err != nil {
			return err
		}
		return r.eventRefs(ctx, &page, EventQuery{EventFilter: page.Webhook.EventFilter, Only: page.Webhook.Only, Limit: limit})
	})
	if err != nil {
		return page, fmt.Errorf("read the log: %w", err)
	}
	return page, nil
}

// eventRefs reads what follows page.Next.
func (r *readTx) eventRefs(ctx context.Context, page *EventRefs, q EventQuery) error {
	last, pruned, err := r.lastEvent(ctx)
	if err != nil || page.Next >= last {
		return err
	}
	entries, next, err := r.entries(ctx, q, max(page.Next, pruned), last)
	if err != nil {
		return err
	}
	for _, e := range entries {
		page.Refs = append(page.Refs, EventRef{ID: e.id, Type: typeOf(e.kind), At: bridge.Millis(e.at), Queue: e.chat})
	}
	page.Next, page.More = next, next < last
	return nil
}

// Post is all that one try of a delivery needs, as it is at one moment.
type Post struct {
	Webhook bridge.Webhook // its settings
	Event   bridge.Event
	// Shown reports whether there is something to post: the event is in the log,
	// what it is about is still shown, and the webhook wants it.
	Shown bool
	Log   LogState
}

// Post reads what a try needs: [bridge.CodeNotFound] when the webhook is gone, or
// the token that made it has expired.
// Event 0 is none.
func (s *Store) Post(ctx context.Context, webhook, event int64) (Post, error) {
	var p Post
	err := s.read(ctx, func(r *readTx) (err error) {
		if p.Log, err = r.logState(ctx); err != nil {
			return err
		}
		if p.Webhook, err = r.liveWebhook(ctx, webhook); err != nil {
			return err
		}
		if event == 0 {
			return nil
		}
		if err := r.limitTo(ctx, p.Webhook.Only); err != nil {
			return err
		}
		wanted := EventQuery{EventFilter: p.Webhook.EventFilter, Only: p.Webhook.Only, Limit: 1}
		entries, _, err := r.entries(ctx, wanted, event-1, event)
		if err != nil {
			return err
		}
		events, _, err := r.render(ctx, entries, nil)
		if len(events) > 0 {
			p.Event, p.Shown = events[0], true
		}
		return err
	})
	if err != nil {
		return p, fmt.Errorf("read an event to post: %w", err)
	}
	return p, nil
}

// PendingQueues is what is pending for a webhook: the first delivery of each
// queue. Flying are the queues of deliveries that were asked for; More says
// that there are queues beyond the limit.
type PendingQueues struct {
	Webhook  bridge.Webhook // its settings
	Heads    []bridge.WebhookDelivery
	More     bool
	InFlight map[int64]int64
	Log      LogState
}

// pendingHeadsQuery walks the index of what is pending; the other columns are
// those of the row with the lowest event.
var pendingHeadsQuery = fmt.Sprintf(`
	SELECT d.id, d.webhook, min(d.event), d.event_at, d.type, d.chat, d.status, d.attempts,
		d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms
	FROM deliveries d WHERE d.webhook = ? AND d.status = %d GROUP BY d.chat_id`, webhookPending) + limited

// PendingQueues reads the queues of a webhook, at most limit of them, and in
// which of them some events are: [bridge.CodeNotFound] when the webhook is gone.
func (s *Store) PendingQueues(ctx context.Context, webhook int64, limit int, inFlight []int64) (PendingQueues, error) {
	p := PendingQueues{InFlight: make(map[int64]int64)}
	err := s.read(ctx, func(r *readTx) (err error) {
		if p.Log, err = r.logState(ctx); err != nil {
			return err
		}
		if p.Webhook, err = r.webhook(ctx, webhook); err != nil {
			return err
		}
		if p.Heads, err = r.deliveries(ctx, pendingHeadsQuery, webhook, limit+1); err != nil {
			return err
		}
		if p.More = len(p.Heads) > limit; p.More {
			p.Heads = p.Heads[:limit]
		}
		for _, event := range inFlight {
			var queue int64
			err := r.scan(ctx, "SELECT chat_id FROM deliveries WHERE webhook = ? AND event = ? AND status = ?",
				[]any{webhook, event, webhookPending}, &queue)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			p.InFlight[event] = queue
		}
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("read pending deliveries: %w", err)
	}
	return p, nil
}

var pendingOfQuery = "SELECT " + deliveryColumns + fmt.Sprintf(` FROM deliveries d
	WHERE d.webhook = ? AND d.status = %d AND d.chat_id = ? AND d.event > ? ORDER BY d.event`, webhookPending) + limited

// PendingOf reads what is pending in a queue behind an event, in order.
func (s *Store) PendingOf(ctx context.Context, webhook, queue, after int64, limit int) ([]bridge.WebhookDelivery, LogState, error) {
	var list []bridge.WebhookDelivery
	var state LogState
	err := s.read(ctx, func(r *readTx) (err error) {
		if state, err = r.logState(ctx); err != nil {
			return err
		}
		list, err = r.deliveries(ctx, pendingOfQuery, webhook, queue, after, limit)
		return err
	})
	if err != nil {
		return nil, state, fmt.Errorf("read a queue of deliveries: %w", err)
	}
	return list, state, nil
}

// LoseDeliveries puts a reset in place of what was pending for a webhook,
// or still to be looked at, and has left the log. It reports whether there was
// any.
func (s *Store) LoseDeliveries(ctx context.Context, webhook int64) (bool, error) {
	lost, err := s.hasLost(ctx, webhook)
	if err != nil || !lost {
		return false, err
	}
	err = s.write(ctx, func(ctx context.Context, t *writeTx) error { return t.loseDeliveries(ctx, webhook) })
	if err != nil {
		return false, fmt.Errorf("replace lost deliveries: %w", err)
	}
	return true, nil
}

var hasLostQuery = fmt.Sprintf(`
	SELECT EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?1 AND status = %d AND event <= ?2 AND type != '%s')
		OR EXISTS (SELECT 1 FROM webhooks WHERE id = ?1 AND cursor < ?2)`, webhookPending, bridge.EventReset)

func (s *Store) hasLost(ctx context.Context, webhook int64) (bool, error) {
	var lost bool
	err := s.read(ctx, func(r *readTx) error {
		state, err := r.logState(ctx)
		if err != nil {
			return err
		}
		return r.scan(ctx, hasLostQuery, []any{webhook, state.Pruned}, &lost)
	})
	if err != nil {
		return false, fmt.Errorf("look for lost deliveries: %w", err)
	}
	return lost, nil
}

// loseDeliveries leaves one reset for all that is lost: an older one that is
// still pending says nothing more.
func (t *writeTx) loseDeliveries(ctx context.Context, webhook int64) error {
	pruned, err := readNumber(ctx, t.conn, settingPruned)
	if err != nil {
		return err
	}
	if err := t.run(ctx, "DELETE FROM deliveries WHERE webhook = ? AND event <= ?", webhook, pruned); err != nil {
		return err
	}
	changed, err := t.change(ctx, "UPDATE webhooks SET cursor = max(cursor, ?) WHERE id = ?", pruned, webhook)
	if err != nil {
		return err
	}
	if changed == 0 {
		return bridge.NotFound("there is no webhook %d", webhook)
	}
	now := bridge.Millis(t.at)
	return t.saveDelivery(ctx, webhook, bridge.WebhookDelivery{
		EventID: pruned, EventType: bridge.EventReset, EventAt: now, Status: bridge.WebhookPending, NextAttemptAt: &now,
	})
}
