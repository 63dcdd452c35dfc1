package webhook

import (
	"cmp"
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// mayTakeIn reports whether the log may be read: not while the queues must be
// read again, and not far ahead of what is posted and saved.
func (w *worker) mayTakeIn() bool {
	return w.hook.Enabled && !w.isStale && !w.isFull && len(w.queues) < maxQueues && w.saver.size() < maxDirty
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
	if w.adopt(page.Webhook); !w.hook.Enabled { // as it was set when the log was read
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
		q.spill(it)
		return
	}
	w.held++
	q.push(it)
	if len(q.items) == 1 && q.trying == 0 && q.in == nil {
		w.schedule(q)
	}
}

// refill reads on in the store where a queue has come to the end of what it
// holds. It reports whether that must wait for a save.
func (w *worker) refill(ctx context.Context, q *queue) (wait bool, err error) {
	if q.spilled > 0 {
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
	isFirst := w.hook.ID == 0
	w.adopt(p.Webhook)
	due := w.dues(p.Heads, isFirst)
	w.state, w.isFull, w.isStale = p.Log, p.More, false
	w.saver.reset(p.Webhook.Cursor)
	w.read, w.seen, w.behind = p.Webhook.Cursor, nil, true
	w.queues, w.fresh, w.failed, w.waiting, w.held = make(map[int64]*queue), schedule{}, schedule{}, nil, 0
	items := w.flyingItems(p.InFlight)
	for i, head := range p.Heads {
		q := newQueue(head.Queue, due[i])
		q.more = true // perhaps
		q.push(cmp.Or(items[head.EventID], &item{WebhookDelivery: head}))
		w.held++
		w.queues[head.Queue] = q
	}
	w.seat(p.InFlight)
	for _, q := range w.queues {
		w.requeue(q)
	}
	return nil
}

// flyingItems returns the items of the posts under way that the store still has.
func (w *worker) flyingItems(queues map[int64]int64) map[int64]*item {
	items := make(map[int64]*item)
	for a := range w.underWay {
		if a.isIn(queues) {
			items[a.item.EventID] = a.item
		}
	}
	return items
}

// dues returns the times at which to try the queues: as before where they
// were known, at once after a start, and never later than the longest pause,
// whatever the clock has done since.
func (w *worker) dues(heads []bridge.WebhookDelivery, isFirst bool) []time.Time {
	now, wall := time.Now(), w.d.wall()
	due := make([]time.Time, len(heads))
	for i, head := range heads {
		due[i] = now
		if known := w.queues[head.Queue]; known != nil {
			due[i] = known.due
		} else if !isFirst && head.NextAttemptAt != nil {
			due[i] = now.Add(min(max(head.NextAttemptAt.Sub(wall), 0), longestPause))
		}
	}
	return due
}

// seat counts the posts under way in the queues that they are in now. A post
// whose delivery the store does not have any more is in none.
func (w *worker) seat(queues map[int64]int64) {
	for a := range w.underWay {
		a.queue = nil
		if !a.isIn(queues) {
			continue
		}
		chat := queues[a.item.EventID]
		if a.queue = w.queues[chat]; a.queue == nil {
			a.queue = newQueue(chat, time.Now())
			a.queue.more = true
			w.queues[chat] = a.queue
		}
		a.queue.trying++
	}
}

// isIn reports whether the delivery is in one of the queues of the store. A
// reset may have the number of an event that it stands for.
func (a *attempt) isIn(queues map[int64]int64) bool {
	chat, ok := queues[a.item.EventID]
	return ok && (chat == bridge.QueueReset) == (a.item.EventType == bridge.EventReset)
}
