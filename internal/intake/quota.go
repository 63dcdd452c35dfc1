// Package intake limits what callers send and let the bridge do at the same time: the bytes of
// bodies that are being read, the files that are being received, and expensive work.
//
// A [Quota] is divided among token trees, so that no caller can block the others. It reserves
// space for received bytes, never for declared ones. A [Semaphore] gives slots to token trees in
// turn.
package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Operator is the token tree of BRIDGE_TOKEN. Each token and hook that BRIDGE_TOKEN created has
// its own tree, together with everything created with it.
const Operator int64 = 0

// Quotas divides a number of slots, or bytes, among token trees.
type Quotas struct {
	All    int64 // of all trees together
	Others int64 // of all trees except the operator's
	Each   int64 // of one tree other than the operator's
}

// Divide returns the quotas for all slots or bytes: a quarter is reserved for the operator, at
// least one of several, and no other tree gets more than half.
func Divide(all int64) Quotas {
	reserved := max(all/4, min(all-1, 1))
	return Quotas{all, all - reserved, max(all/2, 1)}
}

// Usage counts the usage of one tree, of all trees except the operator's, and of all together.
type Usage struct{ Own, Others, All int64 }

// Add adds the usage of a tree. It counts as Own if the tree is viewer.
func (t *Usage) Add(viewer, tree, size int64) {
	t.All += size
	if tree != Operator {
		t.Others += size
	}
	if tree == viewer {
		t.Own += size
	}
}

// Admits reports whether the usage t, which includes the tree's new part, is within the quotas.
func (s Quotas) Admits(tree int64, t Usage) bool {
	return t.All <= s.All && (tree == Operator || t.Others <= s.Others && t.Own <= s.Each)
}

// Quota limits the sum of its reservations. Callers wait in order until there is space.
type Quota struct {
	quotas  Quotas
	timeout time.Duration
	pace    int64

	mu           sync.Mutex // guards the fields from here on
	used         int64
	others       int64 // part of used by trees other than the operator's
	of           map[int64]int64
	reservations map[*Reservation]bool // that still wait for bytes
	waiting      []*Reservation
}

// NewQuota returns a quota. While a reservation waits, it cancels other ones that receive less than pace bytes within timeout.
func NewQuota(quotas Quotas, timeout time.Duration, pace int64) *Quota {
	return &Quota{quotas: quotas, timeout: timeout, pace: pace, of: make(map[int64]int64), reservations: make(map[*Reservation]bool)}
}

// Reservation is a reserved part of a quota.
type Reservation struct {
	quota  *Quota
	tree   int64
	size   int64
	cancel func()
	given  chan struct{} // closed when the reservation is made

	// The quota's mu guards these.
	released    bool
	isCancelled bool
	received    int64 // bytes received after since
	since       time.Time
}

// ErrTooLarge refuses a size that a token tree can never get.
var ErrTooLarge = errors.New("larger than the whole quota of a token")

// Take reserves size for a token tree and waits until there is space. cancel must cancel the reading
// that the reservation is for. Another goroutine calls it, at most once. The errors are the error of
// ctx and [ErrTooLarge].
func (q *Quota) Take(ctx context.Context, tree, size int64, cancel func()) (*Reservation, error) {
	if size > q.quotas.All || tree != Operator && size > q.quotas.Each {
		return nil, ErrTooLarge
	}
	r := &Reservation{quota: q, tree: tree, size: size, cancel: cancel, given: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, r)
	q.giveNext()
	q.mu.Unlock()
	select {
	case <-r.given: // without a timer: this is nearly always the case
		return r, nil
	default:
	}
	look := time.NewTicker(q.timeout)
	defer look.Stop()
	for {
		select {
		case <-r.given:
			return r, nil
		case <-ctx.Done():
			q.withdraw(r)
			return nil, ctx.Err()
		case <-look.C:
			q.cancelSlow(r)
		}
	}
}

// fits reports whether a reservation fits and, if not, whether its own tree uses the space. The caller holds mu.
func (q *Quota) fits(r *Reservation) (fits, isOwn bool) {
	if q.used+r.size > q.quotas.All {
		return false, false
	}
	if r.tree == Operator {
		return true, false
	}
	if q.of[r.tree]+r.size > q.quotas.Each {
		return false, true
	}
	return q.others+r.size <= q.quotas.Others, false
}

// giveNext makes the waiting reservations in order. A tree that has used up its quota
// blocks no other tree, and the others do not block the operator. The caller holds mu.
func (q *Quota) giveNext() {
	var heldOthers, heldAll bool // an earlier reservation waits for shared space
	q.waiting = slices.DeleteFunc(q.waiting, func(r *Reservation) bool {
		if heldAll || heldOthers && r.tree != Operator {
			return false
		}
		fits, isOwn := q.fits(r)
		if !fits {
			heldAll = r.tree == Operator
			heldOthers = heldOthers || !isOwn
			return false
		}
		q.add(r, r.size)
		r.since = time.Now()
		q.reservations[r] = true
		close(r.given)
		return true
	})
}

// add adds size to the usage of a reservation's tree. The caller holds mu.
func (q *Quota) add(r *Reservation, size int64) {
	q.used += size
	if r.tree == Operator {
		return
	}
	q.others += size
	if q.of[r.tree] += size; q.of[r.tree] == 0 {
		delete(q.of, r.tree)
	}
}

// withdraw removes a reservation from the queue, or releases it if it was just made.
func (q *Quota) withdraw(r *Reservation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, r); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.giveNext() // the next one may be smaller
		return
	}
	r.release()
}

// cancelSlow cancels slow reservations that block a waiting one.
func (q *Quota) cancelSlow(waits *Reservation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, isOwn := q.fits(waits)
	now := time.Now()
	for r := range q.reservations {
		isInTheWay := r.tree == waits.tree || !isOwn && r.tree != Operator
		if isInTheWay && !r.isCancelled && now.Sub(r.since) >= q.timeout {
			r.isCancelled = true
			r.cancel()
		}
	}
}

// locked calls f with the quota's lock held. It does nothing if r is nil.
func (r *Reservation) locked(f func()) {
	if r == nil {
		return
	}
	r.quota.mu.Lock()
	defer r.quota.mu.Unlock()
	f()
}

// Received records that n bytes were received.
func (r *Reservation) Received(n int) {
	r.locked(func() {
		if r.received += int64(n); r.received >= r.quota.pace {
			r.received, r.since = 0, time.Now()
		}
	})
}

// Complete records that all bytes were received: the reservation is not cancelled any more.
func (r *Reservation) Complete() { r.locked(func() { delete(r.quota.reservations, r) }) }

// Expect records that bytes are expected again: the reservation is cancelled if they take too long.
func (r *Reservation) Expect() {
	r.locked(func() {
		if r.received, r.since = 0, time.Now(); !r.released {
			r.quota.reservations[r] = true
		}
	})
}

// WasCancelled reports whether the reservation was cancelled to make space.
func (r *Reservation) WasCancelled() (isCancelled bool) {
	r.locked(func() { isCancelled = r.isCancelled })
	return isCancelled
}

// Shrink reduces the reservation to size.
func (r *Reservation) Shrink(size int64) {
	r.locked(func() {
		if r.released || size >= r.size {
			return
		}
		r.quota.add(r, size-r.size)
		r.size = size
		r.quota.giveNext()
	})
}

// Release releases the reservation. It may be called more than once.
func (r *Reservation) Release() { r.locked(r.release) }

// release releases the reservation once. The caller holds mu.
func (r *Reservation) release() {
	if r.released {
		return
	}
	r.released = true
	delete(r.quota.reservations, r)
	r.quota.add(r, -r.size)
	r.quota.giveNext()
}
