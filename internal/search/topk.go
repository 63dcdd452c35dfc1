package search

import (
	"container/heap"
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
	positions []Position // a heap with the last of the kept ones on top
}

func (b *topK) Len() int           { return len(b.positions) }
func (b *topK) Less(i, j int) bool { return b.first(b.positions[j], b.positions[i]) }
func (b *topK) Swap(i, j int)      { b.positions[i], b.positions[j] = b.positions[j], b.positions[i] }
func (b *topK) Push(x any)         { b.positions = append(b.positions, x.(Position)) }
func (b *topK) Pop() any {
	last := b.positions[len(b.positions)-1]
	b.positions = b.positions[:len(b.positions)-1]
	return last
}

// first reports whether p comes before q in b's order.
func (b *topK) first(p, q Position) bool {
	if b.desc {
		return q.Before(p)
	}
	return p.Before(q)
}

func (b *topK) add(p Position) {
	switch {
	case len(b.positions) < b.limit:
		heap.Push(b, p)
	case b.limit > 0 && b.first(p, b.positions[0]):
		b.positions[0] = p
		heap.Fix(b, 0)
	}
}

// full reports whether there are as many as are wanted.
func (b *topK) full() bool { return len(b.positions) == b.limit }

// settled reports whether nothing that comes at p or after p can be among the
// kept ones any more.
func (b *topK) settled(p Position) bool {
	return b.full() && (b.limit == 0 || b.first(b.positions[0], p))
}

// sorted ends the gathering.
func (b *topK) sorted() []Position {
	slices.SortFunc(b.positions, func(p, q Position) int {
		switch {
		case b.first(p, q):
			return -1
		case b.first(q, p):
			return 1
		}
		return 0
	})
	return b.positions
}
