package webhook

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// mayTakeIn reports whether the log may be read: not while the queues must be
// read again, and not far ahead of what is posted and saved.
func (w *worker) mayTakeIn() bool {
	return w.settings.Enabled && !w.isStale && !w.isFull && len(w.queues) < maxQueues && w.saver.size() < maxDirty
}

// takeIn enters what is new in the log into the queues.
func (w *worker) takeIn(ctx context.Context, changed <-chan struct{}) error {
	if !w.mayTakeIn() || changed == w.seen && !w.behind {
		return nil
	}
	page, err := w.d.store.EventRefs(ctx, w.id, w.read, pageSize)
	if err != nil {
		return err
	}
	if w.compare(page.Log) {
		return nil // and read again when the queues are right
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
func (w *worker) compare(state store.LogState) bool {
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
		q = newQueue(ref.Queue, now)
		w.queues[ref.Queue] = q
	}
	w.saver.mark(it)
	if q.more || len(q.items) >= maxOfQueue || w.held >= maxHeld && len(q.items) > 0 {
		q.more = true
		q.leaveToStore(it)
		return
	}
	w.held++
	q.push(it)
}

// refill reads on in the store where a queue has come to the end of what it
// holds. It reports whether that must wait for a save.
func (w *worker) refill(ctx context.Context, q *queue) (wait bool, err error) {
	if q.unsaved > 0 {
		w.saver.soon = true
		return true, nil
	}
	list, state, err := w.d.store.PendingOf(ctx, w.id, q.chat, q.last, maxOfQueue/4)
	if err != nil {
		return false, err
	}
	if w.compare(state) {
		return true, nil
	}
	q.more = len(list) == maxOfQueue/4
	for _, d := range list {
		w.held++
		q.push(&item{WebhookDelivery: d})
	}
	return false, nil
}

// reload reads the queues as the store has them. What was lost to the log
// becomes a reset there first. The store knows all that the worker knows.
func (w *worker) reload(ctx context.Context) error {
	lost, err := w.d.store.LoseDeliveries(ctx, w.id)
	if err != nil {
		return err
	}
	if lost {
		w.refused = 0
		w.log.Warn().Msg("webhook was behind the log: events are lost to it, and it is told")
	}
	trying := make([]int64, 0, len(w.underWay))
	for a := range w.underWay {
		trying = append(trying, a.item.EventID)
	}
	p, err := w.d.store.PendingQueues(ctx, w.id, maxQueues, trying)
	if err != nil {
		return err
	}
	isFirst := w.settings.ID == 0
	w.adopt(p.Webhook)
	w.state, w.isFull, w.isStale = p.Log, p.More, false
	w.saver.reset(p.Webhook.Cursor)
	w.read, w.seen, w.behind = p.Webhook.Cursor, nil, true
	known := w.queues
	w.queues, w.held = make(map[int64]*queue), len(p.Heads)
	for _, head := range p.Heads {
		q := newQueue(head.Queue, w.dueOf(head, known[head.Queue], isFirst))
		q.more = true // perhaps
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

// attach counts a post under way in the queue that its delivery is in now. A post
// whose delivery the store does not have any more is in none.
func (w *worker) attach(a *attempt, queues map[int64]int64) {
	a.queue = nil
	chat, ok := queues[a.item.EventID]
	isReset := a.item.EventType == bridge.EventReset // which may have the number of an event that it stands for
	if !ok || (chat == bridge.QueueReset) != isReset {
		return
	}
	q := w.queues[chat]
	if q == nil {
		q = newQueue(chat, time.Now())
		q.more = true
		w.queues[chat] = q
	}
	if len(q.items) > 0 && q.items[0].EventID == a.item.EventID {
		q.items[0] = a.item
	}
	a.queue = q
	q.trying++
}
