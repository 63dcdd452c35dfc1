package webhook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

// item is a delivery as its worker holds it: numbers, never content.
type item struct {
	bridge.WebhookDelivery
	lastTry time.Time // of this process
	taken   int       // posts of the event that the receiver has taken, where it has several
	isDirty bool      // the store is behind
	dropped bool      // it is not to be delivered
}

// queue holds the pending deliveries of one chat.
type queue struct {
	chat   int64
	items  []*item // the first ones, in order
	more   bool    // there may be others behind them, in the store alone
	last   int64   // the last event that was held
	trying int     // posts under way
	due    time.Time
}

// push enters an item at the end.
func (q *queue) push(it *item) {
	q.items = append(q.items, it)
	q.last = it.EventID
}

// remove takes an item out and reports whether the queue held it.
func (q *queue) remove(event int64) bool {
	i := slices.IndexFunc(q.items, func(it *item) bool { return it.EventID == event })
	if i < 0 {
		return false
	}
	q.items = slices.Delete(q.items, i, i+1)
	return true
}

// hasFailed reports whether the delivery that is next was tried before.
func (q *queue) hasFailed() bool { return len(q.items) > 0 && q.items[0].Attempts > 0 }

// isBefore reports whether the queue is due before another one.
func (q *queue) isBefore(other *queue) bool {
	return cmp.Or(q.due.Compare(other.due), cmp.Compare(q.chat, other.chat)) < 0
}

// mark notes that an item has changed.
func (w *worker) mark(it *item) {
	if !it.isDirty {
		it.isDirty = true
		w.dirty = append(w.dirty, it)
	}
}

// tried notes that an item was tried or dropped.
func (w *worker) tried(it *item) {
	w.mark(it)
	w.urgent = true
}

// saveAt returns when to save, zero for not at all.
func (w *worker) saveAt() time.Time {
	switch {
	case len(w.dirty) == 0 && w.saved == w.read:
		return time.Time{}
	case !w.saveAgain.IsZero():
		return w.saveAgain
	case w.urgent || w.isStale || len(w.dirty) >= pageSize:
		return time.Now()
	case w.behindAt.IsZero():
		w.behindAt = time.Now()
	}
	return w.behindAt.Add(lazySave)
}

// save brings the store up to date. Posts under way go on meanwhile.
func (w *worker) save() error {
	p := settings.DeliveryProgress{Cursor: w.read}
	for _, it := range w.dirty {
		if it.dropped {
			p.Dropped = append(p.Dropped, it.EventID)
			continue
		}
		p.Deliveries = append(p.Deliveries, it.WebhookDelivery)
	}
	if err := w.d.store.SaveDeliveries(context.WithoutCancel(w.posting), w.id, p); err != nil {
		w.saveAgain = time.Now().Add(storeRetry)
		return err
	}
	for _, it := range w.dirty {
		it.isDirty = false
	}
	w.dirty, w.urgent, w.saved, w.behindAt, w.saveAgain = nil, false, w.read, time.Time{}, time.Time{}
	return nil
}
