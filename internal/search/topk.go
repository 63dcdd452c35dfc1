package search

import (
	"cmp"
	"slices"
)

// Position is where a message stands in the order of every list.
type Position struct{ Timestamp, Seq int64 }

// compare is less than 0 if p comes before q in the order that is asked for.
func (p Position) compare(q Position, desc bool) int {
	if desc {
		p, q = q, p
	}
	return cmp.Or(cmp.Compare(p.Timestamp, q.Timestamp), cmp.Compare(p.Seq, q.Seq))
}

// topK keeps the first few of many positions, in the order that is asked for.
type topK struct {
	desc      bool
	limit     int
	positions []Position // in order
}

func (b *topK) add(p Position) {
	if b.settled(p) {
		return
	}
	at, found := slices.BinarySearchFunc(b.positions, p, func(p, q Position) int { return p.compare(q, b.desc) })
	if !found {
		b.positions = slices.Insert(b.positions, at, p)
		b.positions = b.positions[:min(len(b.positions), b.limit)]
	}
}

// full reports whether there are as many positions as are wanted.
func (b *topK) full() bool { return len(b.positions) >= b.limit }

// settled reports whether nothing from p on can be among the kept positions any more.
func (b *topK) settled(p Position) bool {
	return b.full() && (b.limit == 0 || b.positions[b.limit-1].compare(p, b.desc) < 0)
}
