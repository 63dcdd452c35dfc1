package store

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

// A request grows from its beginning to its answer, and is forgotten with its key.
func TestKeyedRequests_AreKeptWithTheirKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		is := func(want bridge.KeyedRequest) {
			t.Helper()
			got, err := s.KeyedRequest(t.Context(), want.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		key := bridge.SendKey{Key: "k", Route: "POST /api/groups", MsgID: "C1"}
		call := bridge.KeyedRequest{ID: "C1", Plan: []byte(`["x"]`)}
		save(t, s, key, call, bridge.KeyedRequest{ID: "C2", Plan: []byte("null")})
		is(call)
		call.Refused = true
		save(t, s, call)
		is(call)
		call.Refused, call.Plan = false, []byte(`["y"]`)
		save(t, s, key, call)
		is(call)
		save(t, s, bridge.GroupMade{Key: "C1", JID: club}, bridge.GroupMade{Key: "OTHER", JID: club})
		call.Chat = club
		is(call)
		done := call
		done.Chat, done.Answer = "", []byte(`{"ok":true}`)
		save(t, s, done)
		done.Chat = club
		is(done)
		for id, want := range map[string][]bridge.JID{"C1": {}, "C2": {club}} {
			if got, err := s.GroupsMadeElse(t.Context(), id); err != nil || cmp.Diff(want, got) != "" {
				t.Errorf("made by others than %s: %v, %v", id, got, err)
			}
		}
		time.Sleep(settings.KeyLife)
		save(t, s, bridge.SendKey{Key: "later", Route: "x", MsgID: "C3"}, bridge.KeyedRequest{ID: "C3", Plan: []byte("null")})
		if _, err := s.KeyedRequest(t.Context(), "C1"); bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("after a day: %v", err)
		}
	})
}

func TestGroupsNamed_AreThoseOfExactlyThatName(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Group{JID: club, Name: "Club"}, bridge.Group{JID: "120363000000000002@g.us", Name: "club"}, says(alice, alice, "A1", 0, "Club"))
	if got, err := s.GroupsNamed(t.Context(), "Club"); err != nil || cmp.Diff([]bridge.JID{club}, got) != "" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestGroup_ATimerIsAChange(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice}}})
	before := logged(t, s)
	for range 2 {
		save(t, s, bridge.GroupChange{JID: club, Expiration: ptr(uint32(86400))})
	}
	sameList(t, "events", logged(t, s)[len(before):], []string{"group.updated " + string(club)})
	if got := group(t, s, club).Expiration; got != 86400 {
		t.Errorf("timer %d", got)
	}
}
