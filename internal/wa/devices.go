package wa

import (
	"context"
	"sync"

	"go.mau.fi/whatsmeow/types"
)

// staleDevices are the people of whom the network has told that their devices
// have changed. whatsmeow keeps the devices of a number and of a LID apart, and
// heeds a change of the LID's, to which all messages go, only in some cases: the
// first message after somebody links a device would not reach that device.
type staleDevices struct {
	mu      sync.Mutex
	numbers map[types.JID]bool // guarded by mu
}

// add notes a change of a number's devices.
func (s *staleDevices) add(number types.JID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbers == nil {
		s.numbers = make(map[types.JID]bool)
	}
	s.numbers[number.ToNonAD()] = true
}

// take returns whose devices have changed since the last call.
func (s *staleDevices) take() map[types.JID]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.numbers
	s.numbers = nil
	return taken
}

// forgetStaleDevices has whatsmeow ask for the devices of LIDs again where they
// have changed.
func (l *link) forgetStaleDevices(ctx context.Context) {
	for number := range l.stale.take() {
		lid, err := l.stores.lids.GetLIDForPN(ctx, number)
		if err != nil {
			l.stale.add(number)
			continue
		}
		if !lid.IsEmpty() {
			l.forgetDevices(ctx, lid.ToNonAD())
		}
	}
}
