package store

import (
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// blocked returns the contacts that are blocked.
func blocked(t *testing.T, s *Store) (jids []bridge.JID) {
	t.Helper()
	for _, c := range contacts(t, s, bridge.ContactQuery{Limit: 1}) {
		if c.IsBlocked {
			jids = append(jids, c.JID)
		}
	}
	return jids
}

// A list replaces what was known before, and the chats that change are logged once.
func TestBlocks_FollowTheList(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "M1", 1, "hi"), bridge.Contact{JID: bobLID, PushName: ptr("bobby")})
	updates := func() (n int) {
		t.Helper()
		page, err := s.Events(t.Context(), read.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventChatUpdated}}})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Events)
	}
	before := updates()
	for _, step := range []struct {
		fact   bridge.Fact
		want   []bridge.JID
		events int
	}{
		{bridge.Block{JID: alice, IsBlocked: true}, []bridge.JID{alice}, 1},
		{bridge.Block{JID: alice, IsBlocked: true}, []bridge.JID{alice}, 1},
		{bridge.Blocklist{JIDs: []bridge.JID{bobLID, "status@broadcast"}}, []bridge.JID{bobLID}, 2},
		{bridge.Blocklist{JIDs: []bridge.JID{bobLID, aliceLID}}, []bridge.JID{bobLID, aliceLID}, 2}, // whose number is not known
		{bridge.Identity{PN: alice, LID: aliceLID}, []bridge.JID{bobLID, alice}, 3},                 // the block stays
		{bridge.Blocklist{}, nil, 4},
	} {
		save(t, s, step.fact)
		if got := blocked(t, s); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(step.want))) {
			t.Errorf("%+v: blocked %v, want %v", step.fact, got, step.want)
		}
		if n := updates() - before; n != step.events {
			t.Errorf("%+v: %d events, want %d", step.fact, n, step.events)
		}
	}
}
