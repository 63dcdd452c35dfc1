package wa

import (
	"fmt"
	"testing"

	"bridged/internal/bridge"
)

// TestUsernames_WaitWithinBounds: usernames that are never stored do not pile up.
func TestUsernames_WaitWithinBounds(t *testing.T) {
	var u usernames
	for i := range mostUsernames + 10 {
		u.add(map[bridge.JID]string{bridge.JID(fmt.Sprintf("%d@lid", i)): "x"})
	}
	if facts := u.take(); len(facts) != mostUsernames {
		t.Errorf("%d wait", len(facts))
	}
	if facts := u.take(); len(facts) != 0 {
		t.Errorf("%d wait after they were taken", len(facts))
	}
}
