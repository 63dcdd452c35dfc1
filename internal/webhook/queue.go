package webhook

import (
	"cmp"
	"slices"
	"time"

	"bridged/internal/bridge"
)

// item is a delivery as its worker holds it: numbers, never content.
type item struct {
	bridge.WebhookDelivery
	lastTry time.Time // of this process
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
