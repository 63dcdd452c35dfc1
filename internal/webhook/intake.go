package webhook

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/settings"
)

// mayTakeIn reports whether the log may be read: not while the queues must be read
// again, and not far ahead of posts and saves.
func (w *worker) mayTakeIn() bool {
	return w.settings.Enabled && !w.isStale && !w.isFull && len(w.queues) < maxQueues && len(w.dirty) < maxDirty
}

// takeIn enters new events into the queues.
func (w *worker) takeIn(ctx context.Context, changed <-chan struct{}) error {
	if !w.mayTakeIn() || changed == w.seen && !w.behind {
		return nil
	}
	page, err := w.d.store.EventRefs(ctx, w.id, w.read, pageSize)
	if err != nil {
		return err
	}
	if w.compare(page.Log) {
		return nil // until the queues are right
	}
	if w.adopt(page.Webhook); !w.settings.Enabled { // as it was set when the log was read
		return nil
	}
	now := time.Now()
	for _, ref := range page.Refs {
		w.enter(ref, now)
	}
	w.read, w.seen, w.behind = page.Next, changed, page.More
	return nil
}

// compare reports whether the queues have become wrong.
func (w *worker) compare(state settings.LogState) bool {
	w.isStale = w.isStale || state != w.state
	return w.isStale
}

// enter puts a new event at the end of its queue, or leaves it to the store
// where the queue is long.
func (w *worker) enter(ref store.EventRef, now time.Time) {
	at := bridge.At(w.d.wall())
	it := &item{WebhookDelivery: bridge.WebhookDelivery{
		WebhookID: w.id, EventID: ref.ID, EventType: ref.Type, EventAt: ref.At, Queue: ref.Queue,
		Status: bridge.WebhookPending, NextAttemptAt: &at,
	}}
	q := w.queues[ref.Queue]
	if q == nil {
		q = &queue{chat: ref.Queue, due: now}
		w.queues[ref.Queue] = q
	}
	w.mark(it)
	if q.more || len(q.items) >= maxOfQueue || w.held >= maxHeld && len(q.items) > 0 {
		q.more = true
		return
	}
	w.held++
	q.push(it)
}

// refill reads the rest of a queue from the store, once that knows all of it.
func (w *worker) refill(ctx context.Context, q *queue) error {
	if len(w.dirty) > 0 {
		if err := w.save(); err != nil {
			return err
		}
	}
	list, state, err := w.d.store.PendingOf(ctx, w.id, q.chat, q.last, maxOfQueue/4)
	if err != nil || w.compare(state) {
		return err
	}
	q.more = len(list) == maxOfQueue/4
	for _, d := range list {
		w.held++
		q.push(&item{WebhookDelivery: d})
	}
	return nil
}

// reload reads the queues from the store, which has saved everything. Events that have
// left the log become a reset there first.
func (w *worker) reload(ctx context.Context) error {
	trying := make([]int64, 0, len(w.underWay))
	for a := range w.underWay {
		trying = append(trying, a.item.EventID)
	}
	p, err := w.d.store.PendingQueues(ctx, w.id, maxQueues, trying)
	if err == nil && p.Lost {
		w.refused = 0
		w.log.Warn().Msg("webhook was behind the log: events are lost to it, and it gets a reset")
		if err = w.d.store.LoseDeliveries(ctx, w.id); err == nil {
			return w.reload(ctx)
		}
	}
	if err != nil {
		return err
	}
	isFirst := w.settings.ID == 0
	w.adopt(p.Webhook)
	w.state, w.isFull, w.isStale = p.Log, p.More, false
	w.saved, w.saveAgain = p.Webhook.Cursor, time.Time{}
	w.read, w.seen, w.behind = p.Webhook.Cursor, nil, true
	known := w.queues
	w.queues, w.held = make(map[int64]*queue), len(p.Heads)
	for _, head := range p.Heads {
		q := &queue{chat: head.Queue, due: w.dueOf(head, known[head.Queue], isFirst), more: true} // perhaps
		q.push(&item{WebhookDelivery: head})
		w.queues[head.Queue] = q
	}
	for a := range w.underWay {
		w.attach(a, p.InFlight)
	}
	return nil
}

// dueOf returns when to try a queue: as before where it was known, at once after a
// start, and never later than the longest pause, whatever the clock has done since.
func (w *worker) dueOf(head bridge.WebhookDelivery, known *queue, isFirst bool) time.Time {
	switch {
	case known != nil:
		return known.due
	case isFirst || head.NextAttemptAt == nil:
		return time.Now()
	}
	return time.Now().Add(min(max(head.NextAttemptAt.Sub(w.d.wall()), 0), longestPause))
}

// attach counts a post under way in the present queue of its delivery. A post whose
// delivery has left the store is in none.
func (w *worker) attach(a *attempt, queues map[int64]int64) {
	a.queue = nil
	chat, ok := queues[a.item.EventID]
	isReset := a.item.EventType == bridge.EventReset // which may have the number of an event that it stands for
	if !ok || (chat == bridge.QueueReset) != isReset {
		return
	}
	q := w.queues[chat]
	if q == nil {
		q = &queue{chat: chat, due: time.Now(), more: true}
		w.queues[chat] = q
	}
	if len(q.items) > 0 && q.items[0].EventID == a.item.EventID {
		q.items[0] = a.item
	}
	a.queue = q
	q.trying++
}
