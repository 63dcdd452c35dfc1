package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// The states of deliveries in the column status. Queries have the numbers themselves:
// SQLite does not use a partial index for a parameter.
const (
	webhookPending   = 0
	webhookDelivered = 1
	webhookDead      = 2
)

var deliveryStates = [...]bridge.DeliveryState{
	webhookPending:   bridge.WebhookPending,
	webhookDelivered: bridge.WebhookDelivered,
	webhookDead:      bridge.WebhookDead,
}

func stateNumber(state bridge.DeliveryState) int { return slices.Index(deliveryStates[:], state) }

// keptDeliveries limits the successful deliveries of a webhook that are kept.
const keptDeliveries = 200

const deliveryColumns = `d.id, d.webhook, d.event, d.event_at, d.type, d.chat, d.status, d.attempts,
	d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms`

func (s *Store) scanDelivery(row *sqlite.Row) (d bridge.WebhookDelivery) {
	var status int
	var tried int64
	row.Scan(&d.ID, &d.WebhookID, &d.EventID, &d.EventAt, &d.EventType, &d.ChatJID, &status, &d.Attempts,
		&d.FirstAttemptAt, &d.LastAttemptAt, &d.NextAttemptAt, &d.ResponseStatus, &d.LastError, &d.Queue, &tried)
	d.ChatJID, d.Status, d.Tried = s.Canonical(d.ChatJID), deliveryStates[status], time.Duration(tried)*time.Millisecond
	return d
}

// Delivery returns one delivery of a webhook: [bridge.CodeNotFound] when it is not
// kept.
func (s *Store) Delivery(ctx context.Context, webhook, id int64) (bridge.WebhookDelivery, error) {
	return readAs(ctx, s, "read a delivery", func(r *readTx) (d bridge.WebhookDelivery) {
		for row := range r.Rows("SELECT "+deliveryColumns+" FROM deliveries d WHERE d.webhook = ? AND d.id = ?", webhook, id) {
			return s.scanDelivery(row)
		}
		r.Fail(bridge.NotFound("there is no delivery %d of webhook %d; only the last %d that went well are kept", id, webhook, keptDeliveries))
		return d
	})
}

// Deliveries lists a webhook's deliveries, the newest first:
// [bridge.CodeNotFound] when there is no such webhook.
func (s *Store) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	return readAs(ctx, s, "list deliveries", func(r *readTx) bridge.Page[bridge.WebhookDelivery] {
		findWebhook(r.Conn, q.Webhook)
		query, args := r.deliveriesQuery(q)
		return pageOf(r, listDeliveries, limitOf(q.Limit), query, args, func(row *sqlite.Row) (bridge.WebhookDelivery, []any) {
			d := s.scanDelivery(row)
			return d, []any{d.ID}
		})
	})
}

func (r *readTx) deliveriesQuery(q bridge.DeliveryQuery) (string, []any) {
	var f sqlite.Filter
	f.Add("d.webhook = ?", q.Webhook)
	if q.Status != "" {
		f.Add("d.status = ?", stateNumber(q.Status))
	}
	var before int64
	if r.after(listDeliveries, q.Cursor, &before) {
		f.Add("d.id < ?", before)
	}
	return "SELECT " + deliveryColumns + " FROM deliveries d WHERE " + f.Where() + " ORDER BY d.id DESC" + sqlite.Limited,
		append(f.Args, limitOf(q.Limit)+1)
}

// DeliveryProgress says how far a webhook has come.
type DeliveryProgress struct {
	Cursor     int64 // up to which event the log was looked at; negative for no change
	Deliveries []bridge.WebhookDelivery
	Dropped    []int64 // events that are not to be delivered
}

// SaveDeliveries keeps the progress of a webhook in one transaction. It fails
// with [bridge.CodeNotFound] when the webhook is gone.
func (s *Store) SaveDeliveries(ctx context.Context, webhook int64, p DeliveryProgress) error {
	return s.writeAs(ctx, "save deliveries", func(t *writeTx) {
		if t.Change("UPDATE webhooks SET cursor = iif(?1 < 0, cursor, ?1) WHERE id = ?2", p.Cursor, webhook) == 0 {
			t.Fail(noWebhook(webhook))
		}
		for _, d := range p.Deliveries {
			t.saveDelivery(webhook, d)
		}
		for _, event := range p.Dropped {
			t.Run("DELETE FROM deliveries WHERE webhook = ? AND event = ?", webhook, event)
		}
		t.showTries(webhook, p.Deliveries)
		t.Run(forgetDeliveredQuery, webhook, keptDeliveries)
	})
}

var forgetDeliveredQuery = fmt.Sprintf(`
	DELETE FROM deliveries WHERE webhook = ?1 AND status = %[1]d AND id <=
		(SELECT id FROM deliveries WHERE webhook = ?1 AND status = %[1]d ORDER BY id DESC LIMIT 1 OFFSET ?2)`, webhookDelivered)

// saveDelivery adds or changes a delivery. It looks the chat up anew: two chats may have
// become one since the event was read.
func (t *writeTx) saveDelivery(webhook int64, d bridge.WebhookDelivery) {
	t.Run(`
		INSERT INTO deliveries (webhook, event, event_at, type, chat, chat_id, status, attempts, first_at, last_at, next_at, response, error, tried_ms)
		SELECT ?1, ?2, ?3, ?4, ifnull(c.jid, ''), iif(?4 = ?15, ?13, ifnull(c.id, ?14)), ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
		FROM (SELECT 1)
			LEFT JOIN events e ON e.id = ?2 AND ?4 != ?15
			LEFT JOIN messages m ON m.seq = e.message
			LEFT JOIN chats c ON c.id = ifnull(m.chat, e.chat)
		WHERE true
		ON CONFLICT (webhook, event) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
			first_at = excluded.first_at, last_at = excluded.last_at, next_at = excluded.next_at,
			response = excluded.response, error = excluded.error, tried_ms = excluded.tried_ms`,
		webhook, d.EventID, d.EventAt.UnixMilli(), d.EventType, stateNumber(d.Status), d.Attempts, d.FirstAttemptAt, d.LastAttemptAt, d.NextAttemptAt,
		d.ResponseStatus, d.LastError, d.Tried.Milliseconds(), bridge.QueueReset, bridge.QueueAccount, bridge.EventReset)
}

// showTries keeps the last success and the last failure with the webhook.
func (t *writeTx) showTries(webhook int64, deliveries []bridge.WebhookDelivery) {
	last := func(delivered bool) (last *bridge.WebhookDelivery) {
		for i, d := range deliveries {
			if d.LastAttemptAt != nil && (d.Status == bridge.WebhookDelivered) == delivered && (last == nil || !d.LastAttemptAt.Before(last.LastAttemptAt.Time)) {
				last = &deliveries[i]
			}
		}
		return last
	}
	delivered, failed := last(true), last(false)
	if failed != nil {
		t.Run("UPDATE webhooks SET last_failed_at = ?, last_error = ? WHERE id = ?", failed.LastAttemptAt, failed.LastError, webhook)
	}
	if delivered != nil {
		isLast := failed == nil || !delivered.LastAttemptAt.Before(failed.LastAttemptAt.Time)
		t.Run("UPDATE webhooks SET last_delivered_at = ?, last_error = iif(?, NULL, last_error) WHERE id = ?", delivered.LastAttemptAt, isLast, webhook)
	}
}

// moveDeliveries moves pending deliveries to the chat that theirs was merged into, and
// counts the merge for those who have read the queues before.
func (t *writeTx) moveDeliveries(from, into int64) {
	t.setSetting(settingMerges, strconv.FormatInt(readNumber(t.Conn, settingMerges)+1, 10))
	t.Run(fmt.Sprintf("UPDATE deliveries SET chat_id = ? WHERE chat_id = ? AND status = %d", webhookPending), into, from)
}

// PruneDeliveries forgets deliveries of events that were removed from the log, except
// pending ones.
func (s *Store) PruneDeliveries(ctx context.Context) error {
	return s.writeAs(ctx, "forget old deliveries", func(t *writeTx) {
		t.Run("DELETE FROM deliveries WHERE status != ? AND event <= ?", webhookPending, readNumber(t.Conn, settingPruned))
	})
}

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

// EventRefs holds a part of the log without its content. Next and More are as in [EventPage].
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
			page.Refs = append(page.Refs, EventRef{ID: e.id, Type: e.event, At: bridge.Millis(e.at), Queue: e.chat})
		}
		page.Next, page.More = next, next < last
		return page
	})
}

// Post holds all that one try of a delivery needs, of one snapshot.
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

// PendingQueues holds the queues of deliveries that are pending for a webhook.
type PendingQueues struct {
	Webhook  bridge.Webhook           // its settings
	Heads    []bridge.WebhookDelivery // the first of each queue
	More     bool                     // there are queues beyond the limit
	Lost     bool                     // events were removed from the log before the webhook got them
	InFlight map[int64]int64          // queues by the events that were asked for
	Log      LogState
}

// pendingHeadsQuery walks the index of pending deliveries; the other columns are
// those of the row with the lowest event.
var pendingHeadsQuery = fmt.Sprintf(`
	SELECT d.id, d.webhook, min(d.event), d.event_at, d.type, d.chat, d.status, d.attempts,
		d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms
	FROM deliveries d WHERE d.webhook = ? AND d.status = %d GROUP BY d.chat_id`, webhookPending) + sqlite.Limited

// PendingQueues reads the queues of a webhook, at most limit of them, and the queues of
// the events in flight: [bridge.CodeNotFound] when the webhook is gone.
func (s *Store) PendingQueues(ctx context.Context, webhook int64, limit int, inFlight []int64) (PendingQueues, error) {
	return readAs(ctx, s, "read pending deliveries", func(r *readTx) PendingQueues {
		p := PendingQueues{Log: r.logState(), Webhook: findWebhook(r.Conn, webhook), InFlight: make(map[int64]int64)}
		r.Find(hasLostQuery, []any{webhook, p.Log.Pruned}, &p.Lost)
		p.Heads = sqlite.Collect(r.Conn, s.scanDelivery, pendingHeadsQuery, webhook, limit+1)
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
	WHERE d.webhook = ? AND d.status = %d AND d.chat_id = ? AND d.event > ? ORDER BY d.event`, webhookPending) + sqlite.Limited

// PendingOf reads the pending deliveries of a queue behind an event, in order.
func (s *Store) PendingOf(ctx context.Context, webhook, queue, after int64, limit int) (list []bridge.WebhookDelivery, state LogState, err error) {
	list, err = readAs(ctx, s, "read a queue of deliveries", func(r *readTx) []bridge.WebhookDelivery {
		state = r.logState()
		return sqlite.Collect(r.Conn, s.scanDelivery, pendingOfQuery, webhook, queue, after, limit)
	})
	return list, state, err
}

// LoseDeliveries puts a reset in place of events that were removed from the log before
// a webhook got them (see [PendingQueues]): one, also in place of an older one that is
// still pending.
func (s *Store) LoseDeliveries(ctx context.Context, webhook int64) error {
	return s.writeAs(ctx, "replace lost deliveries", func(t *writeTx) {
		pruned := readNumber(t.Conn, settingPruned)
		t.Run("DELETE FROM deliveries WHERE webhook = ? AND event <= ?", webhook, pruned)
		if t.Change("UPDATE webhooks SET cursor = max(cursor, ?) WHERE id = ?", pruned, webhook) == 0 {
			t.Fail(noWebhook(webhook))
		}
		now := bridge.Millis(t.at)
		t.saveDelivery(webhook, bridge.WebhookDelivery{
			EventID: pruned, EventType: bridge.EventReset, EventAt: now, Status: bridge.WebhookPending, NextAttemptAt: &now,
		})
	})
}

var hasLostQuery = fmt.Sprintf(`
	SELECT EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?1 AND status = %d AND event <= ?2 AND type != '%s')
		OR EXISTS (SELECT 1 FROM webhooks WHERE id = ?1 AND cursor < ?2)`, webhookPending, bridge.EventReset)
