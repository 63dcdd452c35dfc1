// Package intake bounds what callers send and have done at the same time: the bytes of bodies
// that are being read, the files that are being received, expensive work.
//
// A [Quota] is divided by shares, so that no caller keeps the others out. It gives room for
// bytes that have come, never for announced ones. A [Semaphore] gives slots in turn.
package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Operator is the family of BRIDGE_TOKEN. Each token and hook that it made is a family,
// with all that was made with it in turn.
const Operator int64 = 0

// Shares divides a number of places, or bytes, among families.
type Shares struct {
	All    int64 // of all families together
	Others int64 // of all families but the operator's
	Each   int64 // of one family but the operator's
}

// Divide returns the shares of all: a quarter is reserved for the operator, at least one of
// several, and no other family has more than half.
func Divide(all int64) Shares {
	reserved := max(all/4, min(all-1, 1))
	return Shares{all, all - reserved, max(all/2, 1)}
}

// Taken counts what a family, all families but the operator's, and all together have.
type Taken struct{ Own, Others, All int64 }

// Add adds what a family has, for one of the families.
func (t *Taken) Add(family, of, size int64) {
	t.All += size
	if of != Operator {
		t.Others += size
	}
	if of == family {
		t.Own += size
	}
}

// Admits reports whether a family may have what is taken with its own last part.
func (s Shares) Admits(family int64, t Taken) bool {
	return t.All <= s.All && (family == Operator || t.Others <= s.Others && t.Own <= s.Each)
}

// Quota bounds the sum of its grants. Callers without room wait in their order.
type Quota struct {
	shares   Shares
	patience time.Duration
	pace     int64

	mu      sync.Mutex // guards all below
	used    int64
	others  int64 // of used, what families but the operator's have
	of      map[int64]int64
	grants  map[*Grant]bool // that still wait for bytes
	waiting []*Grant
}

// NewQuota returns a quota. While a grant waits, one that gets less than pace bytes within
// patience is cut off.
func NewQuota(shares Shares, patience time.Duration, pace int64) *Quota {
	return &Quota{shares: shares, patience: patience, pace: pace, of: make(map[int64]int64), grants: make(map[*Grant]bool)}
}

// Grant is a part of a quota that was taken.
type Grant struct {
	quota  *Quota
	family int64
	size   int64
	cut    func()
	given  chan struct{} // closed when there is room

	// Guarded by the quota's mu.
	released bool
	isCut    bool
	came     int64 // since
	since    time.Time
}

// ErrTooLarge refuses a size that a family can never take.
var ErrTooLarge = errors.New("larger than a whole share")

// Take takes size of the quota for a family, and waits until there is room. cut must end
// the reading that the grant is for; another goroutine calls it at most once. The errors
// are those of ctx, and [ErrTooLarge].
func (q *Quota) Take(ctx context.Context, family, size int64, cut func()) (*Grant, error) {
	if size > q.shares.All || family != Operator && size > q.shares.Each {
		return nil, ErrTooLarge
	}
	g := &Grant{quota: q, family: family, size: size, cut: cut, given: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, g)
	q.giveNext()
	q.mu.Unlock()
	select {
	case <-g.given: // without a timer, as nearly always
		return g, nil
	default:
	}
	look := time.NewTicker(q.patience)
	defer look.Stop()
	for {
		select {
		case <-g.given:
			return g, nil
		case <-ctx.Done():
			q.withdraw(g)
			return nil, ctx.Err()
		case <-look.C:
			q.cutSlow(g)
		}
	}
}

// room reports whether a grant fits, and if not whether its own family is in the way. The
// caller holds mu.
func (q *Quota) room(g *Grant) (fits, isOwn bool) {
	if q.used+g.size > q.shares.All {
		return false, false
	}
	if g.family == Operator {
		return true, false
	}
	if q.of[g.family]+g.size > q.shares.Each {
		return false, true
	}
	return q.others+g.size <= q.shares.Others, false
}

// giveNext gives room to waiting grants in their order. A family that has its share holds
// up no other one, and the others do not hold up the operator. The caller holds mu.
func (q *Quota) giveNext() {
	var heldOthers, heldAll bool // an earlier one waits for room that others share
	q.waiting = slices.DeleteFunc(q.waiting, func(g *Grant) bool {
		if heldAll || heldOthers && g.family != Operator {
			return false
		}
		fits, isOwn := q.room(g)
		if !fits {
			heldAll = g.family == Operator
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

// add counts size for a grant's family. The caller holds mu.
func (q *Quota) add(g *Grant, size int64) {
	q.used += size
	if g.family == Operator {
		return
	}
	q.others += size
	if q.of[g.family] += size; q.of[g.family] == 0 {
		delete(q.of, g.family)
	}
}

// withdraw takes a grant out of the queue, or releases it if it was just given.
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

// cutSlow cuts off slow grants that are in the way of a waiting one.
func (q *Quota) cutSlow(waits *Grant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, isOwn := q.room(waits)
	now := time.Now()
	for g := range q.grants {
		isInTheWay := g.family == waits.family || !isOwn && g.family != Operator
		if isInTheWay && !g.isCut && now.Sub(g.since) >= q.patience {
			g.isCut = true
			g.cut()
		}
	}
}

// locked runs f with the quota's lock held. It does nothing on nil.
func (g *Grant) locked(f func()) {
	if g == nil {
		return
	}
	g.quota.mu.Lock()
	defer g.quota.mu.Unlock()
	f()
}

// Came notes that n bytes have come.
func (g *Grant) Came(n int) {
	g.locked(func() {
		if g.came += int64(n); g.came >= g.quota.pace {
			g.came, g.since = 0, time.Now()
		}
	})
}

// Whole notes that everything has come: the grant is no longer cut off.
func (g *Grant) Whole() { g.locked(func() { delete(g.quota.grants, g) }) }

// Await notes that bytes are awaited again: the grant is cut off if they take too long.
func (g *Grant) Await() {
	g.locked(func() {
		if g.came, g.since = 0, time.Now(); !g.released {
			g.quota.grants[g] = true
		}
	})
}

// WasCut reports whether the grant was cut off to make room.
func (g *Grant) WasCut() (isCut bool) {
	g.locked(func() { isCut = g.isCut })
	return isCut
}

// Shrink releases what the grant has beyond size.
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

// Release releases the grant. It may be called more than once.
func (g *Grant) Release() { g.locked(g.release) }

// release releases the grant, once. The caller holds mu.
func (g *Grant) release() {
	if g.released {
		return
	}
	g.released = true
	delete(g.quota.grants, g)
	g.quota.add(g, -g.size)
	g.quota.giveNext()
}
