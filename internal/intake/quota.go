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

// Quota limits the sum of its grants. Callers wait in order until there is space.
type Quota struct {
	quotas  Quotas
	timeout time.Duration
	pace    int64

	mu      sync.Mutex // guards the fields from here on
	used    int64
	others  int64 // part of used by trees other than the operator's
	of      map[int64]int64
	grants  map[*Grant]bool // that still wait for bytes
	waiting []*Grant
}

// NewQuota returns a quota. While a grant waits, it cancels other ones that receive less than pace bytes within timeout.
func NewQuota(quotas Quotas, timeout time.Duration, pace int64) *Quota {
	return &Quota{quotas: quotas, timeout: timeout, pace: pace, of: make(map[int64]int64), grants: make(map[*Grant]bool)}
}

// Grant is a reserved part of a quota.
type Grant struct {
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
// that the grant is for. Another goroutine calls it, at most once. The errors are the error of
// ctx and [ErrTooLarge].
func (q *Quota) Take(ctx context.Context, tree, size int64, cancel func()) (*Grant, error) {
	if size > q.quotas.All || tree != Operator && size > q.quotas.Each {
		return nil, ErrTooLarge
	}
	g := &Grant{quota: q, tree: tree, size: size, cancel: cancel, given: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, g)
	q.giveNext()
	q.mu.Unlock()
	select {
	case <-g.given: // without a timer: this is nearly always the case
		return g, nil
	default:
	}
	look := time.NewTicker(q.timeout)
	defer look.Stop()
	for {
		select {
		case <-g.given:
			return g, nil
		case <-ctx.Done():
			q.withdraw(g)
			return nil, ctx.Err()
		case <-look.C:
			q.cancelSlow(g)
		}
	}
}

// fits reports whether a grant fits and, if not, whether its own tree uses the space. The caller holds mu.
func (q *Quota) fits(g *Grant) (fits, isOwn bool) {
	if q.used+g.size > q.quotas.All {
		return false, false
	}
	if g.tree == Operator {
		return true, false
	}
	if q.of[g.tree]+g.size > q.quotas.Each {
		return false, true
	}
	return q.others+g.size <= q.quotas.Others, false
}

// giveNext makes the reservations of waiting grants in order. A tree that has used up its quota
// blocks no other tree, and the others do not block the operator. The caller holds mu.
func (q *Quota) giveNext() {
	var heldOthers, heldAll bool // an earlier grant waits for shared space
	q.waiting = slices.DeleteFunc(q.waiting, func(g *Grant) bool {
		if heldAll || heldOthers && g.tree != Operator {
			return false
		}
		fits, isOwn := q.fits(g)
		if !fits {
			heldAll = g.tree == Operator
			heldOthers = heldOthers || !isOwn
			return false
		}
		q.add(g, g.size)
		g.since = time.Now()
		q.grants[g] = true
		close(g.given)
		return true
	})
}

// add adds size to the usage of a grant's tree. The caller holds mu.
func (q *Quota) add(g *Grant, size int64) {
	q.used += size
	if g.tree == Operator {
		return
	}
	q.others += size
	if q.of[g.tree] += size; q.of[g.tree] == 0 {
		delete(q.of, g.tree)
	}
}

// withdraw removes a grant from the queue, or releases it if it was just made.
func (q *Quota) withdraw(g *Grant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, g); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.giveNext() // the next one may be smaller
		return
	}
	g.release()
}

// cancelSlow cancels slow grants that block a waiting one.
func (q *Quota) cancelSlow(waits *Grant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, isOwn := q.fits(waits)
	now := time.Now()
	for g := range q.grants {
		isInTheWay := g.tree == waits.tree || !isOwn && g.tree != Operator
		if isInTheWay && !g.isCancelled && now.Sub(g.since) >= q.timeout {
			g.isCancelled = true
			g.cancel()
		}
	}
}

// locked calls f with the quota's lock held. It does nothing if g is nil.
func (g *Grant) locked(f func()) {
	if g == nil {
		return
	}
	g.quota.mu.Lock()
	defer g.quota.mu.Unlock()
	f()
}

// Received records that n bytes were received.
func (g *Grant) Received(n int) {
	g.locked(func() {
		if g.received += int64(n); g.received >= g.quota.pace {
			g.received, g.since = 0, time.Now()
		}
	})
}

// Whole records that all bytes were received: the grant is not cancelled any more.
func (g *Grant) Whole() { g.locked(func() { delete(g.quota.grants, g) }) }

// Expect records that bytes are expected again: the grant is cancelled if they take too long.
func (g *Grant) Expect() {
	g.locked(func() {
		if g.received, g.since = 0, time.Now(); !g.released {
			g.quota.grants[g] = true
		}
	})
}

// WasCancelled reports whether the grant was cancelled to make space.
func (g *Grant) WasCancelled() (isCancelled bool) {
	g.locked(func() { isCancelled = g.isCancelled })
	return isCancelled
}

// Shrink reduces the grant to size.
func (g *Grant) Shrink(size int64) {
	g.locked(func() {
		if g.released || size >= g.size {
			return
		}
		g.quota.add(g, size-g.size)
		g.size = size
		g.quota.giveNext()
	})
}

// Release releases the reservation. It may be called more than once.
func (g *Grant) Release() { g.locked(g.release) }

// release releases the reservation once. The caller holds mu.
func (g *Grant) release() {
	if g.released {
		return
	}
	g.released = true
	delete(g.quota.grants, g)
	g.quota.add(g, -g.size)
	g.quota.giveNext()
}
