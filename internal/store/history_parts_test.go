package store

import (
	"context"
	"path/filepath"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// next returns the part of the history that is due next; empty when there is none.
func next(t *testing.T, s *Store) bridge.HistoryPart {
	t.Helper()
	part, found, err := s.NextHistoryPart(context.Background())
	if err != nil || found != (part.ID != "") {
		t.Fatalf("next part %+v, %v: %v", part, found, err)
	}
	return part
}

// TestHistoryParts_WaitUntilTheyAreOver: a part is there after a restart, those
// that failed come later, and what they were read with goes at their end.
func TestHistoryParts_WaitUntilTheyAreOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	s := openStore(t, path)
	first := bridge.HistoryPart{HistoryStep: bridge.HistoryStep{ID: "A"}, Kind: "INITIAL_BOOTSTRAP", Chunk: 1, Notification: []byte("key of A")}
	save(t, s, first, bridge.HistoryPart{HistoryStep: bridge.HistoryStep{ID: "B"}, Kind: "PUSH_NAME", Chunk: 1, Notification: []byte("key of B")})
	save(t, s, first) // told again
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	if part := next(t, s); part.ID != "A" || string(part.Notification) != "key of A" || part.State != bridge.HistoryWaiting {
		t.Errorf("after a restart: %+v", part)
	}
	save(t, s, bridge.HistoryStep{ID: "A", State: bridge.HistoryWaiting, Position: 7, Tries: 1, NextAt: at(60)})
	if part := next(t, s); part.ID != "B" {
		t.Errorf("after a failure of A: %+v", part)
	}
	save(t, s, bridge.HistoryStep{ID: "B", State: bridge.HistoryTakenOver})
	if part := next(t, s); part.ID != "B" || part.State != bridge.HistoryTakenOver {
		t.Errorf("B is still at the network: %+v", part)
	}
	save(t, s, bridge.HistoryStep{ID: "B", State: bridge.HistoryDone})
	if part := next(t, s); part.ID != "A" || part.Position != 7 || part.Tries != 1 || part.NextAt != at(60) {
		t.Errorf("A waits: %+v", part)
	}
	save(t, s, bridge.HistoryPart{HistoryStep: bridge.HistoryStep{ID: "C"}, Kind: "INITIAL_BOOTSTRAP", Chunk: 1, Notification: []byte("key of C")})
	save(t, s, bridge.HistoryStep{ID: "C", State: bridge.HistoryGivenUp}, bridge.HistoryStep{ID: "C", State: bridge.HistoryWaiting})
	if part := next(t, s); part.ID != "" {
		t.Errorf("A was uploaded again as C, and C was given up: %+v", part)
	}
	if count, err := s.HistoryCount(context.Background()); err != nil || count != (bridge.HistoryCount{Done: 1, GivenUp: 1}) {
		t.Errorf("count %+v, %v", count, err)
	}
	if kinds, err := s.HistoryKinds(context.Background()); err != nil || len(kinds) != 2 || !kinds["PUSH_NAME"] {
		t.Errorf("kinds %v, %v", kinds, err)
	}
	var left int
	err := s.Read(context.Background(), func(r *read.Snapshot) {
		r.Find("SELECT count(*) FROM history_parts WHERE notification IS NOT NULL", nil, &left)
	})
	if err != nil || left != 0 {
		t.Errorf("%d notifications left, %v", left, err)
	}
	save(t, s, bridge.HistoryForgotten{})
	if kinds, err := s.HistoryKinds(context.Background()); err != nil || len(kinds) != 0 {
		t.Errorf("after the end of the session: %v, %v", kinds, err)
	}
}

// TestTimer_TheLatestSettingCounts: a timer that was set earlier does not
// replace a later one, whichever comes first, and belongs to the person, not to
// a chat that must be listed.
func TestTimer_TheLatestSettingCounts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	is := func(jid bridge.JID, seconds uint32, set bridge.Time) {
		t.Helper()
		timer, err := s.ChatTimer(context.Background(), jid)
		if err != nil || timer.Seconds != seconds || timer.SetAt != set {
			t.Errorf("timer %+v, %v; want %d s, set %v", timer, err, seconds, set)
		}
	}
	is(alice, 0, bridge.Time{})
	save(t, s, bridge.ChatTimer{Chat: aliceLID, Seconds: 60, SetAt: at(10), FromHistory: true})
	is(aliceLID, 60, at(10))
	if list := chats(t, s, bridge.ChatQuery{}); len(list) != 0 {
		t.Errorf("a timer listed %+v", list)
	}
	save(t, s, bridge.ChatTimer{Chat: alice, Seconds: 90, SetAt: at(20), FromHistory: true})
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	is(alice, 90, at(20))
	save(t, s, bridge.ChatTimer{Chat: alice, Seconds: 30, SetAt: at(15)})
	is(aliceLID, 90, at(20))
	save(t, s, bridge.ChatTimer{Chat: alice, SetAt: at(25)})
	is(alice, 0, at(25))
	save(t, s, bridge.ChatTimer{Chat: club, Seconds: 5, FromHistory: true})
	is(club, 0, bridge.Time{})
}

// TestChatName_CountsWhereNoneIsKnown: the phone's name for a chat gives way to
// the address book and to a group's own subject.
func TestChatName_CountsWhereNoneIsKnown(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.ChatName{JID: alice, Name: "Alice A."}, bridge.Contact{JID: alice, PushName: ptr("ali")},
		bridge.Contact{JID: bob, Name: ptr("Bob B.")}, bridge.ChatName{JID: bob, Name: "bobby"},
		bridge.ChatName{JID: club, Name: "too early"},
		says(alice, alice, "A1", 1, "one"), says(bob, bob, "B1", 2, "two"), says(club, bob, "G1", 3, "three"),
		bridge.ChatName{JID: club, Name: "The club"})
	for jid, want := range map[bridge.JID]string{alice: "Alice A.", bob: "Bob B.", club: "The club"} {
		if chat, err := s.Chat(context.Background(), jid); err != nil || chat.Name != want {
			t.Errorf("chat %+v, %v; want the name %q", chat, err, want)
		}
	}
	save(t, s, bridge.Group{JID: club, Name: "Club"}, bridge.ChatName{JID: club, Name: "The club"}, bridge.Contact{JID: alice, Name: ptr("Alice Adams")})
	for jid, want := range map[bridge.JID]string{alice: "Alice Adams", club: "Club"} {
		if chat, err := s.Chat(context.Background(), jid); err != nil || chat.Name != want {
			t.Errorf("chat %+v, %v; want the name %q", chat, err, want)
		}
	}
}
