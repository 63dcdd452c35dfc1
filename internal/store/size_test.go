package store

import (
	"fmt"
	"testing"

	"bridged/internal/bridge"
)

func TestSize_GrowsWithWhatIsStored(t *testing.T) {
	s := newStore(t)
	size := func() Size {
		size, err := s.Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	empty := size()
	if empty.Log <= 0 || empty.Bytes < empty.Log {
		t.Errorf("empty: %+v", empty)
	}
	facts := make([]bridge.Fact, 2000)
	for i := range facts {
		facts[i] = says(alice, alice, fmt.Sprint("A", i), i, "hello")
	}
	save(t, s, facts...)
	if full := size(); full.Log <= empty.Log || full.Bytes-empty.Bytes <= full.Log-empty.Log {
		t.Errorf("empty %+v, with 2000 messages %+v", empty, full)
	}
}
