package intake

import (
	"sync"
)

// Slots divides slots among token trees. A caller that gets no slot is refused; nothing waits.
type Slots struct {
	shares Shares

	mu     sync.Mutex
	taken  Taken           // of no single tree; guarded by mu
	family map[int64]int64 // guarded by mu
}

// NewSlots returns slots that are all free.
func NewSlots(shares Shares) *Slots { return &Slots{shares: shares, family: make(map[int64]int64)} }

// Take takes a slot for a token tree, unless its quota is used up. release frees the slot and may
// be called more than once.
func (s *Slots) Take(family int64) (release func(), isFree bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.taken
	taken.Own = s.family[family]
	taken.Add(family, family, 1)
	if !s.shares.Admits(family, taken) {
		return nil, false
	}
	s.add(family, 1)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(family, -1)
	}), true
}

// add adds slots to the usage of a tree. The caller holds mu.
func (s *Slots) add(family, count int64) {
	s.taken.Add(family, family, count)
	if s.family[family] += count; s.family[family] == 0 {
		delete(s.family, family)
	}
}
