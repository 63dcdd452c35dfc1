package store

import (
	"container/heap"
	"slices"
)

// best keeps the first few of many places, in the order that is asked for.
type best struct {
	desc   bool
	room   int
	places []place // a heap with the last of the kept ones on top
}

func (b *best) Len() int           { return len(b.places) }
func (b *best) Less(i, j int) bool { return b.first(b.places[j], b.places[i]) }
func (b *best) Swap(i, j int)      { b.places[i], b.places[j] = b.places[j], b.places[i] }
func (b *best) Push(x any)         { b.places = append(b.places, x.(place)) }
func (b *best) Pop() any {
	last := b.places[len(b.places)-1]
	b.places = b.places[:len(b.places)-1]
	return last
}

// first says whether p comes before q in b's order.
func (b *best) first(p, q place) bool {
	if b.desc {
		return q.before(p)
	}
	return p.before(q)
}

func (b *best) add(p place) {
	switch {
	case len(b.places) < b.room:
		heap.Push(b, p)
	case b.room > 0 && b.first(p, b.places[0]):
		b.places[0] = p
		heap.Fix(b, 0)
	}
}

// settled says whether nothing that comes at p or after p can be among the
// kept ones any more.
func (b *best) settled(p place) bool {
	return len(b.places) == b.room && (b.room == 0 || b.first(b.places[0], p))
}

// sorted ends the gathering.
func (b *best) sorted() []place {
	slices.SortFunc(b.places, func(p, q place) int {
		switch {
		case b.first(p, q):
			return -1
		case b.first(q, p):
			return 1
		}
		return 0
	})
	return b.places
}
