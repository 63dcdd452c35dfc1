package store

import (
	"fmt"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// fullBlocks saves enough messages of one chat for n blocks, and two more.
func fullBlocks(t *testing.T, s *Store, chat bridge.JID, n int) {
	t.Helper()
	var facts []bridge.Fact
	for i := range n*testBlock + 1 {
		facts = append(facts, says(chat, chat, fmt.Sprintf("%.4s-%d", chat, i), i, fmt.Sprintf("number %d of %s", i, chat)))
	}
	save(t, s, facts...)
}

// countOf returns the number that a query returns.
func countOf(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	err := s.Read(t.Context(), func(r *read.Snapshot) { r.Find(query, nil, &n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSearch_InChatsThatBecomeOne: packs know of which chats they are.
func TestSearch_InChatsThatBecomeOne(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	fullBlocks(t, s, alice, 2)
	fullBlocks(t, s, aliceLID, 2)
	twice := says(alice, alice, "twice", 500, "told under both names")
	save(t, s, twice)
	twice.Chat = aliceLID
	save(t, s, twice)
	fullBlocks(t, s, bob, 1)
	settle(t, s)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	for range 2 {
		for q, want := range map[string]int{"number": 4*testBlock + 2, "number 7 ": 2, "both names": 1} {
			if got := len(messages(t, s, bridge.MessageQuery{Chat: alice, Q: q, Limit: 500})); got != want {
				t.Errorf("in the chat, %q is found %d times, want %d", q, got, want)
			}
			if got := len(matchesOf(t, s, bridge.SearchQuery{Q: q, Limit: 500, Only: []bridge.JID{alice}})); got != want {
				t.Errorf("by search, %q is found %d times, want %d", q, got, want)
			}
		}
		settle(t, s)
	}
	if n := countOf(t, s, "SELECT count(*) FROM packs WHERE texts IS NULL"); n != 0 {
		t.Errorf("%d packs are still stale", n)
	}
}
