package webhook

import (
	"container/heap"
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
	queue   *queue    // which does not hold it: it goes to the store; else nil
}

// queue is what is pending of one chat.
type queue struct {
	chat    int64
	items   []*item // the first ones, in order
	more    bool    // there are others behind them, in the store alone
	spilled int     // of these, how many the store does not have yet
	last    int64   // the last event that was held
	trying  int     // posts under way
	due     time.Time
	in      *schedule // nil where it is in none
	place   int
}

func newQueue(chat int64, due time.Time) *queue { return &queue{chat: chat, due: due} }

// push enters an item at the end.
func (q *queue) push(it *item) {
	q.items = append(q.items, it)
	q.last = it.EventID
}

// spill leaves an item to the store, from where it may be read again when it is
// saved.
func (q *queue) spill(it *item) {
	if it.queue == nil {
		it.queue = q
		q.spilled++
	}
}

// remove takes an item out and reports whether the queue held it.
func (q *queue) remove(event int64) bool {
	i := slices.IndexFunc(q.items, func(it *item) bool { return it.EventID == event })
	if i < 0 {
		return false
	}
	if i == 0 {
		q.items[0] = nil
		q.items = q.items[1:]
		return true
	}
	q.items = slices.Delete(q.items, i, i+1)
	return true
}

func (q *queue) isEmpty() bool { return len(q.items) == 0 && !q.more }

// holds reports whether the queue holds an item itself, not the store alone.
func (q *queue) holds(it *item) bool { return slices.Contains(q.items, it) }

// hasFailed reports whether the delivery that is next was tried before.
func (q *queue) hasFailed() bool { return len(q.items) > 0 && q.items[0].Attempts > 0 }

// leave takes the queue out of its schedule.
func (q *queue) leave() {
	if q.in != nil {
		heap.Remove(q.in, q.place)
	}
}

// schedule is a heap of queues, the one that is due first at the top.
type schedule struct{ queues []*queue }

func (s *schedule) put(q *queue) { heap.Push(s, q) }

// first returns the queue that is due first, nil if there is none.
func (s *schedule) first() *queue {
	if len(s.queues) == 0 {
		return nil
	}
	return s.queues[0]
}

// newest returns the queue that is due last, nil if there is none.
func (s *schedule) newest() *queue {
	var newest *queue
	for _, q := range s.queues {
		if newest == nil || q.due.After(newest.due) {
			newest = q
		}
	}
	return newest
}

// Len implements heap.Interface.
func (s *schedule) Len() int { return len(s.queues) }

// Less implements heap.Interface.
func (s *schedule) Less(i, j int) bool { return s.queues[i].due.Before(s.queues[j].due) }

// Swap implements heap.Interface.
func (s *schedule) Swap(i, j int) {
	s.queues[i], s.queues[j] = s.queues[j], s.queues[i]
	s.queues[i].place, s.queues[j].place = i, j
}

// Push implements heap.Interface.
func (s *schedule) Push(x any) {
	q := x.(*queue)
	q.in, q.place = s, len(s.queues)
	s.queues = append(s.queues, q)
}

// Pop implements heap.Interface.
func (s *schedule) Pop() any {
	last := len(s.queues) - 1
	q := s.queues[last]
	s.queues[last] = nil
	s.queues, q.in = s.queues[:last], nil
	return q
}
