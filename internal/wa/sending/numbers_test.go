package sending

import (
	"strconv"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"
)

func TestNumbers_AreKeptForADay(t *testing.T) {
	t.Parallel()
	var n numbers
	now := time.Now()
	somebody := types.NewJID("1", types.DefaultUserServer)
	n.put("1", somebody, now)
	n.put("2", types.EmptyJID, now)
	for _, c := range []struct {
		number string
		after  time.Duration
		jid    types.JID
		known  bool
	}{
		{"1", numberLife - 1, somebody, true},
		{"2", numberLife - 1, types.EmptyJID, true},
		{"1", numberLife, types.EmptyJID, false},
		{"2", numberLife, types.EmptyJID, false},
		{"3", 0, types.EmptyJID, false},
	} {
		if jid, known := n.get(c.number, now.Add(c.after)); jid != c.jid || known != c.known {
			t.Errorf("%s after %v: %v, %v", c.number, c.after, jid, known)
		}
	}
}

// TestNumbers_AreBounded: the oldest answers are dropped first.
func TestNumbers_AreBounded(t *testing.T) {
	t.Parallel()
	var n numbers
	now := time.Now()
	for i := range maxNumbers / 2 {
		n.put(strconv.Itoa(i), types.EmptyJID, now)
	}
	later := now.Add(numberLife)
	for i := range maxNumbers {
		n.put("new"+strconv.Itoa(i), types.EmptyJID, later)
		if len(n.answers) > maxNumbers {
			t.Fatalf("%d answers are kept", len(n.answers))
		}
	}
	for i := range maxNumbers {
		if _, known := n.get("new"+strconv.Itoa(i), later); !known {
			t.Fatalf("answer %d was forgotten before the old ones", i)
		}
	}
	n.put("one more", types.EmptyJID, later)
	if _, known := n.get("one more", later); !known || len(n.answers) != maxNumbers {
		t.Errorf("%d answers are kept, the last is known: %v", len(n.answers), known)
	}
}
