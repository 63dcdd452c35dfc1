package intake

import (
	"sync"
)

// Slots divides slots among token trees. A caller that gets no slot is refused; nothing waits.
type Slots struct {
	quotas Quotas

	mu    sync.Mutex
	usage Usage           // Own is unused; guarded by mu
	trees map[int64]int64 // slots by tree; guarded by mu
}

// NewSlots returns slots that are all free.
func NewSlots(quotas Quotas) *Slots { return &Slots{quotas: quotas, trees: make(map[int64]int64)} }

// Take takes a slot for a token tree, unless its quota is used up. release frees the slot and may
// be called more than once.
func (s *Slots) Take(tree int64) (release func(), isFree bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	usage := s.usage
	usage.Own = s.trees[tree]
	usage.Add(tree, tree, 1)
	if !s.quotas.Admits(tree, usage) {
		return nil, false
	}
	s.add(tree, 1)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(tree, -1)
	}), true
}

// add adds slots to the usage of a tree. The caller holds mu.
func (s *Slots) add(tree, count int64) {
	s.usage.Add(tree, tree, count)
	if s.trees[tree] += count; s.trees[tree] == 0 {
		delete(s.trees, tree)
	}
}
