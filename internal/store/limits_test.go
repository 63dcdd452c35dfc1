package store

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// TestSave_StrangeIDsNeitherBlockNorCollide: the store takes any text as an id,
// also from before there was a rule for ids.
func TestSave_StrangeIDsNeitherBlockNorCollide(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	given := []string{".", "..", "../..", "a/b", "a\x00", "a\x00b", "a\nb", "\x1b[2J", `"'`, "%00", strings.Repeat("y", 1<<20)}
	for i, id := range given {
		save(t, s, says(alice, alice, id, i, "text"), says(alice, alice, id, i, "text"),
			bridge.ReactionChange{Chat: alice, Target: id, Sender: alice, Emoji: "👍", Timestamp: at(i)})
	}
	list := historyOf(t, s, alice)
	if len(list) != len(given) {
		t.Fatalf("%d messages of %d", len(list), len(given))
	}
	for i, m := range list {
		if one := message(t, s, alice, m.ID); one.ID != m.ID || len(one.Reactions) != 1 {
			t.Errorf("%.20q is found as %.20q with %d reactions", given[i], one.ID, len(one.Reactions))
		}
		var back string
		if data, err := json.Marshal(m.ID); err != nil || json.Unmarshal(data, &back) != nil || back != m.ID {
			t.Errorf("%.20q does not survive JSON: %q", given[i], back)
		}
	}
	page, err := s.Events(context.Background(), read.EventQuery{Limit: 1000})
	if err != nil || len(page.Events) == 0 {
		t.Errorf("%d events, %v", len(page.Events), err)
	}
	save(t, s, says(alice, alice, "", 99, "without an id")) // the network has no such message
	if n := len(historyOf(t, s, alice)); n != len(given) {
		t.Errorf("%d messages", n)
	}
}
