package search

import (
	"cmp"
	"slices"
)

// Position is where a message stands in the order of every list.
type Position struct{ Timestamp, Seq int64 }

// Before reports whether p comes before q in ascending order.
func (p Position) Before(q Position) bool {
	return p.Timestamp < q.Timestamp || p.Timestamp == q.Timestamp && p.Seq < q.Seq
}

// topK keeps the first few of many positions, in the order that is asked for.
type topK struct {
	desc      bool
	limit     int
	positions []Position // in order
}

// compare is less than 0 if p comes before q in b's order.
func (b *topK) compare(p, q Position) int {
	c := cmp.Or(cmp.Compare(p.Timestamp, q.Timestamp), cmp.Compare(p.Seq, q.Seq))
	if b.desc {
		return -c
	}
	return c
}

func (b *topK) add(p Position) {
	if b.settled(p) {
		return
	}
	at, found := slices.BinarySearchFunc(b.positions, p, b.compare)
	if found {
		return
	}
	b.positions = slices.Insert(b.positions, at, p)
	if len(b.positions) > b.limit {
		b.positions = b.positions[:b.limit]
	}
}

// full reports whether there are as many as are wanted.
func (b *topK) full() bool { return len(b.positions) >= b.limit }

// settled reports whether nothing that comes at p or after p can be among the
// kept ones any more.
func (b *topK) settled(p Position) bool {
	return b.full() && (b.limit == 0 || b.compare(b.positions[b.limit-1], p) < 0)
}
