package settings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// The states of deliveries in the column status. Queries contain the numbers: SQLite uses no
// partial index for a parameter.
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

// storedDeliveries limits the successful deliveries of a webhook that stay stored.
const storedDeliveries = 200

const listDeliveries = "d" // of cursors

const deliveryColumns = `d.id, d.webhook, d.event, d.event_at, d.type, d.chat, d.status, d.attempts,
	d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms`

func (t *Tables) scanDelivery(row *sqlite.Row) (d bridge.WebhookDelivery) {
	var status int
	var tried int64
	row.Scan(&d.ID, &d.WebhookID, &d.EventID, &d.EventAt, &d.EventType, &d.ChatJID, &status, &d.Attempts,
		&d.FirstAttemptAt, &d.LastAttemptAt, &d.NextAttemptAt, &d.ResponseStatus, &d.LastError, &d.Queue, &tried)
	d.ChatJID, d.Status, d.Tried = t.db.Canonical(d.ChatJID), deliveryStates[status], time.Duration(tried)*time.Millisecond
	return d
}

// Delivery returns a delivery of a webhook: [bridge.CodeNotFound] if it is not stored.
func (t *Tables) Delivery(ctx context.Context, webhook, id int64) (bridge.WebhookDelivery, error) {
	return view(ctx, t, "read a delivery", func(c *sqlite.Conn) (d bridge.WebhookDelivery) {
		for row := range c.Rows("SELECT "+deliveryColumns+" FROM deliveries d WHERE d.webhook = ? AND d.id = ?", webhook, id) {
			return t.scanDelivery(row)
		}
		c.Fail(bridge.NotFound("there is no delivery %d of webhook %d; only the last %d that went well are stored", id, webhook, storedDeliveries))
		return d
	})
}

// Deliveries lists a webhook's deliveries, the newest first: [bridge.CodeNotFound] if there is no
// such webhook.
func (t *Tables) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	return view(ctx, t, "list deliveries", func(c *sqlite.Conn) bridge.Page[bridge.WebhookDelivery] {
		FindWebhook(c, q.Webhook)
		query, args := deliveriesQuery(c, q)
		return sqlite.Page(c, listDeliveries, sqlite.LimitOf(q.Limit), query, args, func(row *sqlite.Row) (bridge.WebhookDelivery, []any) {
			d := t.scanDelivery(row)
			return d, []any{d.ID}
		})
	})
}

func deliveriesQuery(c *sqlite.Conn, q bridge.DeliveryQuery) (string, []any) {
	var f sqlite.Filter
	f.Add("d.webhook = ?", q.Webhook)
	if q.Status != "" {
		f.Add("d.status = ?", stateNumber(q.Status))
	}
	var before int64
	if c.After(listDeliveries, q.Cursor, &before) {
		f.Add("d.id < ?", before)
	}
	return "SELECT " + deliveryColumns + " FROM deliveries d WHERE " + f.Where() + " ORDER BY d.id DESC" + sqlite.Limited,
		append(f.Args, sqlite.LimitOf(q.Limit)+1)
}

// DeliveryProgress is the progress of a webhook.
type DeliveryProgress struct {
	Cursor     int64 // the last event that was read from the log; negative for no change
	Deliveries []bridge.WebhookDelivery
	Dropped    []int64 // events that are not delivered
}

// SaveDeliveries stores the progress of a webhook in one transaction. It fails with
// [bridge.CodeNotFound] if the webhook was removed.
func (t *Tables) SaveDeliveries(ctx context.Context, webhook int64, p DeliveryProgress) error {
	return t.update(ctx, "save deliveries", func(c *sqlite.Conn) {
		if c.Change("UPDATE webhooks SET cursor = iif(?1 < 0, cursor, ?1) WHERE id = ?2", p.Cursor, webhook) == 0 {
			c.Fail(noWebhook(webhook))
		}
		for _, d := range p.Deliveries {
			saveDelivery(c, webhook, d)
		}
		for _, event := range p.Dropped {
			c.Run("DELETE FROM deliveries WHERE webhook = ? AND event = ?", webhook, event)
		}
		showTries(c, webhook, p.Deliveries)
		c.Run(forgetDeliveredQuery, webhook, storedDeliveries)
	})
}

var forgetDeliveredQuery = fmt.Sprintf(`
	DELETE FROM deliveries WHERE webhook = ?1 AND status = %[1]d AND id <=
		(SELECT id FROM deliveries WHERE webhook = ?1 AND status = %[1]d ORDER BY id DESC LIMIT 1 OFFSET ?2)`, webhookDelivered)

// saveDelivery adds or changes a delivery. It looks the chat up again, because two chats may have
// become one since the event was read.
func saveDelivery(c *sqlite.Conn, webhook int64, d bridge.WebhookDelivery) {
	c.Run(`
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

// showTries stores the last success and the last failure with the webhook.
func showTries(c *sqlite.Conn, webhook int64, deliveries []bridge.WebhookDelivery) {
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
		c.Run("UPDATE webhooks SET last_failed_at = ?, last_error = ? WHERE id = ?", failed.LastAttemptAt, failed.LastError, webhook)
	}
	if delivered != nil {
		isLast := failed == nil || !delivered.LastAttemptAt.Before(failed.LastAttemptAt.Time)
		c.Run("UPDATE webhooks SET last_delivered_at = ?, last_error = iif(?, NULL, last_error) WHERE id = ?", delivered.LastAttemptAt, isLast, webhook)
	}
}

// MoveDeliveries moves pending deliveries when one chat becomes part of another, and counts the
// merge, so that webhooks read their queues again.
func MoveDeliveries(c *sqlite.Conn, from, into int64) {
	Set(c, merges, strconv.FormatInt(Number(c, merges)+1, 10))
	c.Run(fmt.Sprintf("UPDATE deliveries SET chat_id = ? WHERE chat_id = ? AND status = %d", webhookPending), into, from)
}

// PruneDeliveries removes the deliveries of events that were removed from the log, except pending
// deliveries.
func (t *Tables) PruneDeliveries(ctx context.Context) error {
	return t.update(ctx, "remove old deliveries", func(c *sqlite.Conn) {
		c.Run("DELETE FROM deliveries WHERE status != ? AND event <= ?", webhookPending, Number(c, Pruned))
	})
}

// LogState changes when events are removed (Pruned is the last one), and when two chats become
// one (Merges counts).
type LogState struct{ Pruned, Merges int64 }

// ReadLogState returns the state of the log.
func ReadLogState(c *sqlite.Conn) LogState {
	return LogState{Pruned: Number(c, Pruned), Merges: Number(c, merges)}
}

// PendingQueues holds the queues of a webhook's pending deliveries.
type PendingQueues struct {
	Webhook  bridge.Webhook           // its settings
	Heads    []bridge.WebhookDelivery // the first of each queue
	More     bool                     // there are more queues than the limit
	Lost     bool                     // events were removed from the log before they were delivered
	InFlight map[int64]int64          // queues by events
	Log      LogState
}

// pendingHeadsQuery walks the index of pending deliveries; the other columns are from the row with
// the lowest event.
var pendingHeadsQuery = fmt.Sprintf(`
	SELECT d.id, d.webhook, min(d.event), d.event_at, d.type, d.chat, d.status, d.attempts,
		d.first_at, d.last_at, d.next_at, d.response, d.error, d.chat_id, d.tried_ms
	FROM deliveries d WHERE d.webhook = ? AND d.status = %d GROUP BY d.chat_id`, webhookPending) + sqlite.Limited

// PendingQueues reads at most limit queues of a webhook, and the queues of the events in flight:
// [bridge.CodeNotFound] if the webhook was removed.
func (t *Tables) PendingQueues(ctx context.Context, webhook int64, limit int, inFlight []int64) (PendingQueues, error) {
	return view(ctx, t, "read pending deliveries", func(c *sqlite.Conn) PendingQueues {
		p := PendingQueues{Log: ReadLogState(c), Webhook: FindWebhook(c, webhook), InFlight: make(map[int64]int64)}
		c.Find(hasLostQuery, []any{webhook, p.Log.Pruned}, &p.Lost)
		p.Heads = sqlite.Collect(c, t.scanDelivery, pendingHeadsQuery, webhook, limit+1)
		if p.More = len(p.Heads) > limit; p.More {
			p.Heads = p.Heads[:limit]
		}
		for _, event := range inFlight {
			var queue int64
			if c.Find("SELECT chat_id FROM deliveries WHERE webhook = ? AND event = ? AND status = ?", []any{webhook, event, webhookPending}, &queue) {
				p.InFlight[event] = queue
			}
		}
		return p
	})
}

var pendingOfQuery = "SELECT " + deliveryColumns + fmt.Sprintf(` FROM deliveries d
	WHERE d.webhook = ? AND d.status = %d AND d.chat_id = ? AND d.event > ? ORDER BY d.event`, webhookPending) + sqlite.Limited

// PendingOf reads the pending deliveries of a queue after an event, in order.
func (t *Tables) PendingOf(ctx context.Context, webhook, queue, after int64, limit int) (list []bridge.WebhookDelivery, state LogState, err error) {
	list, err = view(ctx, t, "read a queue of deliveries", func(c *sqlite.Conn) []bridge.WebhookDelivery {
		state = ReadLogState(c)
		return sqlite.Collect(c, t.scanDelivery, pendingOfQuery, webhook, queue, after, limit)
	})
	return list, state, err
}

// LoseDeliveries replaces the deliveries of events that were removed from the log (see
// [PendingQueues]), and an older reset that is still pending, by one reset.
func (t *Tables) LoseDeliveries(ctx context.Context, webhook int64) error {
	return t.update(ctx, "replace lost deliveries", func(c *sqlite.Conn) {
		pruned := Number(c, Pruned)
		c.Run("DELETE FROM deliveries WHERE webhook = ? AND event <= ?", webhook, pruned)
		if c.Change("UPDATE webhooks SET cursor = max(cursor, ?) WHERE id = ?", pruned, webhook) == 0 {
			c.Fail(noWebhook(webhook))
		}
		now := bridge.Millis(t.now())
		saveDelivery(c, webhook, bridge.WebhookDelivery{
			EventID: pruned, EventType: bridge.EventReset, EventAt: now, Status: bridge.WebhookPending, NextAttemptAt: &now,
		})
	})
}

var hasLostQuery = fmt.Sprintf(`
	SELECT EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?1 AND status = %d AND event <= ?2 AND type != '%s')
		OR EXISTS (SELECT 1 FROM webhooks WHERE id = ?1 AND cursor < ?2)`, webhookPending, bridge.EventReset)
