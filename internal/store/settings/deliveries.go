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

func (t *Tables) scanDelivery(row *sqlite.Row) bridge.WebhookDelivery {
	d := scanDelivery(row)
	d.ChatJID = t.db.Canonical(d.ChatJID)
	return d
}

// scanDelivery reads a delivery with the stored JID of its chat.
func scanDelivery(row *sqlite.Row) (d bridge.WebhookDelivery) {
	var status int
	var tried int64
	row.Scan(&d.ID, &d.WebhookID, &d.EventID, &d.EventAt, &d.EventType, &d.ChatJID, &status, &d.Attempts,
		&d.FirstAttemptAt, &d.LastAttemptAt, &d.NextAttemptAt, &d.ResponseStatus, &d.LastError, &d.Queue, &tried)
	d.Status, d.Tried = deliveryStates[status], time.Duration(tried)*time.Millisecond
	return d
}

// Delivery returns a delivery of a webhook: [bridge.CodeNotFound] if it is not stored.
func (t *Tables) Delivery(ctx context.Context, webhook, id int64) (bridge.WebhookDelivery, error) {
	return view(ctx, t, "read a delivery", func(c *sqlite.Conn) (d bridge.WebhookDelivery) {
		for row := range c.Rows("SELECT "+deliveryColumns+" FROM deliveries d WHERE d.webhook = ? AND d.id = ?", webhook, id) {
			return t.scanDelivery(row)
		}
		c.Fail(bridge.NotFound("there is no delivery %d of webhook %d; of the successful ones only the last %d are stored", id, webhook, storedDeliveries))
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
	Cursor     int64                    // the last event that was read from the log; 0 for no change
	Deliveries []bridge.WebhookDelivery // new ones have no ID
	Dropped    []int64                  // deliveries that are removed
	DueAt      *bridge.Time             // when all pending deliveries are tried; nil for no change
}

// SaveDeliveries stores the progress of a webhook in one transaction, which a power cut may undo: the
// events are delivered again then. It fails with [bridge.CodeNotFound] if the webhook was removed.
func (t *Tables) SaveDeliveries(ctx context.Context, webhook int64, p DeliveryProgress) error {
	err := t.db.UpdateUnsynced(ctx, func(c *sqlite.Conn) {
		if c.Change("UPDATE webhooks SET cursor = max(cursor, ?) WHERE id = ?", p.Cursor, webhook) == 0 {
			c.Fail(noWebhook(webhook))
		}
		for _, d := range p.Deliveries {
			saveDelivery(c, webhook, d)
		}
		for _, id := range p.Dropped {
			c.Run("DELETE FROM deliveries WHERE id = ?", id)
		}
		if p.DueAt != nil {
			c.Run(fmt.Sprintf("UPDATE deliveries SET next_at = ?1 WHERE webhook = ?2 AND status = %d AND next_at > ?1", webhookPending), p.DueAt, webhook)
		}
		showTries(c, webhook, p.Deliveries)
		c.Run(forgetDeliveredQuery, webhook, storedDeliveries)
	})
	if err != nil {
		return fmt.Errorf("save deliveries: %w", err)
	}
	return nil
}

var forgetDeliveredQuery = fmt.Sprintf(`
	DELETE FROM deliveries WHERE webhook = ?1 AND status = %[1]d AND id <=
		(SELECT id FROM deliveries WHERE webhook = ?1 AND status = %[1]d ORDER BY id DESC LIMIT 1 OFFSET ?2)`, webhookDelivered)

// saveDelivery changes a delivery, if it is still stored, or adds a new one. It looks the chat of a
// new one up again, because two chats may have become one since the event was read.
func saveDelivery(c *sqlite.Conn, webhook int64, d bridge.WebhookDelivery) {
	state := []any{stateNumber(d.Status), d.Attempts, d.FirstAttemptAt, d.LastAttemptAt, d.NextAttemptAt, d.ResponseStatus, d.LastError, d.Tried.Milliseconds()}
	if d.ID != 0 {
		c.Run("UPDATE deliveries SET (status, attempts, first_at, last_at, next_at, response, error, tried_ms) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
			append(state, d.ID)...)
		return
	}
	c.Run(`
		INSERT INTO deliveries (status, attempts, first_at, last_at, next_at, response, error, tried_ms, webhook, event, event_at, type, chat, chat_id)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ifnull(c.jid, ''), iif(?12 = ?13, ?14, ifnull(c.id, ?15))
		FROM (SELECT 1)
			LEFT JOIN events e ON e.id = ?10 AND ?12 != ?13
			LEFT JOIN messages m ON m.seq = e.message
			LEFT JOIN chats c ON c.id = ifnull(m.chat, e.chat)
		WHERE true
		ON CONFLICT (webhook, event) DO NOTHING`,
		append(state, webhook, d.EventID, d.EventAt.UnixMilli(), d.EventType, bridge.EventReset, bridge.QueueReset, bridge.QueueAccount)...)
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

// DueQuery asks for the deliveries of a webhook that can be posted next.
type DueQuery struct {
	Webhook  int64
	UnderWay []int64     // deliveries that are being posted; no other of their chats is returned
	New      int         // limits the deliveries that were not tried yet
	Failed   int         // limits the ones that were
	Latest   bridge.Time // deliveries with a later next try are due, because the clock was set back
}

// dueQuery finds the first pending delivery of each chat, with one search of the index for each.
var dueQuery = fmt.Sprintf(`
	WITH RECURSIVE heads AS (
		SELECT * FROM (SELECT id, chat_id, event, attempts, next_at FROM deliveries WHERE webhook = ?1 AND status = %[1]d ORDER BY chat_id, event LIMIT 1)
		UNION ALL
		SELECT d.id, d.chat_id, d.event, d.attempts, d.next_at FROM heads h JOIN deliveries d ON d.id = (
			SELECT id FROM deliveries WHERE webhook = ?1 AND status = %[1]d AND chat_id > h.chat_id ORDER BY chat_id, event LIMIT 1)
	), ranked AS (
		SELECT id, row_number() OVER (
			PARTITION BY attempts > 0 ORDER BY chat_id != %[2]d, iif(attempts = 0, event, iif(next_at > ?3, 0, next_at))
		) AS rank
		FROM heads WHERE chat_id NOT IN (SELECT chat_id FROM deliveries WHERE status = %[1]d AND id IN (SELECT value FROM json_each(?2)))
	)
	SELECT `+deliveryColumns+` FROM ranked r JOIN deliveries d USING (id)
	WHERE r.rank <= iif(d.attempts = 0, ?4, ?5) ORDER BY d.attempts = 0, r.rank`,
	webhookPending, bridge.QueueReset)

// Due returns the first pending delivery of each chat: those that failed, the earliest next try
// first, and then those that were not tried yet, the oldest event first. A reset comes before others.
func Due(c *sqlite.Conn, q DueQuery) []bridge.WebhookDelivery {
	if q.New == 0 && q.Failed == 0 {
		return nil
	}
	return sqlite.Collect(c, scanDelivery, dueQuery, q.Webhook, c.Encode(bridge.NotNil(q.UnderWay)), q.Latest, q.New, q.Failed)
}

// LoseDeliveries replaces the deliveries of events that were removed from the log (see
// [HasLost]), and an older reset that is still pending, by one reset.
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

// HasLost reports whether events were removed from the log before a webhook has read or delivered
// them; after is the last event that it has read.
func HasLost(c *sqlite.Conn, webhook, after int64) (lost bool) {
	pruned := Number(c, Pruned)
	c.Find(fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM deliveries WHERE webhook = ? AND status = %d AND event <= ? AND type != ?)", webhookPending),
		[]any{webhook, pruned, bridge.EventReset}, &lost)
	return lost || after < pruned
}
