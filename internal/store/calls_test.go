package store

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/read"
)

// rings is a call that begins to ring.
func rings(caller bridge.JID, id string, seconds int) bridge.Call {
	return bridge.Call{ID: id, WireID: id, FromJID: caller, ChatJID: caller, StartedAt: at(seconds)}
}

// told is what a caller's device tells of a call.
func told(caller bridge.JID, id string, state bridge.CallState, seconds int) bridge.CallChange {
	return bridge.CallChange{ID: id, Caller: caller, By: caller, State: state, At: at(seconds)}
}

func calls(t testing.TB, s *Store, q bridge.CallQuery) []bridge.Call {
	t.Helper()
	page, err := s.Calls(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// stateOf returns the state of a call, and when it ended: seconds into the story,
// -1 for nobody knows.
func stateOf(t testing.TB, s *Store, id string) string {
	t.Helper()
	call, err := s.Call(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	ended := -1
	if call.EndedAt != nil {
		ended = int(call.EndedAt.Sub(at(0).Time).Seconds())
	}
	return fmt.Sprintf("%s %d", call.State, ended)
}

func TestCalls_StatesFollowEachOther(t *testing.T) {
	t.Parallel()
	const (
		ringing, missed, rejected, ended, elsewhere = bridge.CallRinging, bridge.CallMissed, bridge.CallRejected, bridge.CallEnded, bridge.CallAnsweredElsewhere
	)
	for _, c := range []struct {
		told   []bridge.CallState
		want   string
		events int // after the first
	}{
		{nil, "ringing -1", 0},
		{[]bridge.CallState{ended}, "missed 1", 1},
		{[]bridge.CallState{rejected, ended}, "rejected 1", 1},
		{[]bridge.CallState{elsewhere}, "answered_elsewhere -1", 1},
		{[]bridge.CallState{elsewhere, elsewhere, ended, ended}, "ended 3", 2},
		{[]bridge.CallState{ended, elsewhere}, "answered_elsewhere -1", 2}, // the bridge was away
		{[]bridge.CallState{ended, rejected, elsewhere}, "rejected 2", 2},
		{[]bridge.CallState{ended, missed}, "missed 1", 1},
	} {
		s := newStore(t)
		save(t, s, rings(alice, "C", 0))
		begun := len(logged(t, s))
		for i, state := range c.told {
			save(t, s, told(alice, "C", state, i+1))
			save(t, s, rings(alice, "C", 0)) // comes again
		}
		if got := stateOf(t, s, "C"); got != c.want {
			t.Errorf("%v: %s, want %s", c.told, got, c.want)
		}
		if got := len(logged(t, s)) - begun; got != c.events {
			t.Errorf("%v: %d events, want %d", c.told, got, c.events)
		}
	}
}

// What a stranger tells of somebody else's call does not count.
func TestCalls_OnlyThoseConcernedTellOfTheirEnd(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, rings(aliceLID, "C", 0))
	for _, stranger := range []bridge.CallChange{
		{ID: "C", Caller: alice, By: bob, State: bridge.CallEnded, At: at(1)},
		{ID: "C", Caller: bob, By: bob, State: bridge.CallEnded, At: at(1)},
		{ID: "C", Caller: alice, By: carol, State: bridge.CallRejected, At: at(1)},
		{ID: "D", Caller: alice, By: alice, State: bridge.CallEnded, At: at(1)},
	} {
		save(t, s, stranger)
		if got := stateOf(t, s, "C"); got != "ringing -1" {
			t.Errorf("after %+v: %s", stranger, got)
		}
	}
	save(t, s, rings(bob, "C", 5)) // somebody else takes the id
	save(t, s, bridge.CallChange{ID: "C", Caller: alice, By: meLID, State: bridge.CallRejected, At: at(2)})
	if got := stateOf(t, s, "C"); got != "rejected 2" {
		t.Error(got)
	}
	save(t, s, rings(me, "OWN", 6)) // the account's own
	if got := calls(t, s, bridge.CallQuery{}); len(got) != 1 || got[0].FromJID != alice {
		t.Errorf("calls %+v", got)
	}
}

func TestCalls_ListIsPagedNewestFirst(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Group{JID: club, Name: "Club"})
	for i := range 7 {
		save(t, s, rings(alice, fmt.Sprint("A", i), 10*(i/2)), rings(bob, fmt.Sprint("B", i), 10*(i/2)+5))
	}
	inGroup, unknown, stranger := rings(carol, "G", 100), rings(carol, "U", 101), rings(carol, "S", 102)
	inGroup.IsGroup, inGroup.ChatJID = true, club
	unknown.IsGroup, unknown.ChatJID = true, ""
	stranger.IsGroup, stranger.ChatJID = true, "120363999999999999@g.us" // not one of ours
	save(t, s, inGroup, unknown, stranger)
	all := func(q bridge.CallQuery) (ids []string) {
		for {
			page, err := s.Calls(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range page.Items {
				ids = append(ids, call.ID)
			}
			if page.NextCursor == nil {
				return ids
			}
			q.Cursor = *page.NextCursor
		}
	}
	want := []string{"S", "U", "G", "B6", "A6", "B5", "B4", "A5", "A4", "B3", "B2", "A3", "A2", "B1", "B0", "A1", "A0"}
	for _, limit := range []int{1, 2, 3, 100} {
		sameList(t, fmt.Sprint("by ", limit), all(bridge.CallQuery{Limit: limit}), want)
	}
	since := at(30)
	sameList(t, "since", all(bridge.CallQuery{Limit: 2, Since: &since}), []string{"S", "U", "G", "B6", "A6"})
	sameList(t, "of a chat", all(bridge.CallQuery{Limit: 2, Chat: alice}), []string{"A6", "A5", "A4", "A3", "A2", "A1", "A0"})
	sameList(t, "of the group", all(bridge.CallQuery{Chat: club}), []string{"G"})
	sameList(t, "for one who may see two chats", all(bridge.CallQuery{Only: []bridge.JID{club, alice}, Limit: 3, Since: &since}), []string{"G", "A6"})
	sameList(t, "for one who may see none", all(bridge.CallQuery{Only: []bridge.JID{carol}}), nil)
	for _, cursor := range []string{"x", sqlite.Cursor(read.ListMessages, 1, 1)} {
		_, err := s.Calls(t.Context(), bridge.CallQuery{Cursor: cursor})
		wantCode(t, err, bridge.CodeInvalid)
	}
	if _, err := s.Calls(t.Context(), bridge.CallQuery{Chat: "49170999@s.whatsapp.net"}); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("of no chat: %v", err)
	}
	if _, err := s.Chat(t.Context(), stranger.ChatJID); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("a call made a group known: %v", err)
	}
}

// A person who was known by a LID alone keeps their calls under the number, and so
// do the events.
func TestCalls_GoWithTheirPerson(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "M", 0, "hi"), rings(aliceLID, "C", 1))
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	want := []bridge.Call{{ID: "C", WireID: "C", ChatJID: alice, FromJID: alice, FromLID: aliceLID, State: bridge.CallRinging, StartedAt: at(1)}}
	if diff := cmp.Diff(want, calls(t, s, bridge.CallQuery{Chat: aliceLID})); diff != "" {
		t.Error(diff)
	}
	save(t, s, told(alice, "C", bridge.CallEnded, 2))
	page, err := s.Events(t.Context(), read.EventQuery{Only: []bridge.JID{alice}, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventCallCreated, bridge.EventCallUpdated}}})
	if err != nil || len(page.Events) != 2 || page.Events[0].ChatJID != alice || page.Events[1].Call.State != bridge.CallMissed {
		t.Errorf("events %+v, %v", page.Events, err)
	}
	checkSound(t, s)
}

// What rang when the process ended was missed, and so is what rings for too long.
// The log says so once.
func TestCalls_ThatNobodyTellsOfAreMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		save(t, s, rings(alice, "OLD", 0), rings(bob, "DONE", 1))
		save(t, s, told(bob, "DONE", bridge.CallAnsweredElsewhere, 2))
		time.Sleep(time.Minute)
		save(t, s, rings(carol, "NEW", 60))
		before := len(logged(t, s))
		are := func(states map[string]string) {
			t.Helper()
			for id, want := range states {
				if got := stateOf(t, s, id); got != want {
					t.Errorf("%s: %s, want %s", id, got, want)
				}
			}
		}
		save(t, s, bridge.CallsMissed{Ringing: time.Minute + time.Second})
		are(map[string]string{"OLD": "ringing -1"})
		for range 2 {
			save(t, s, bridge.CallsMissed{Ringing: time.Minute})
		}
		are(map[string]string{"OLD": "missed -1", "DONE": "answered_elsewhere -1", "NEW": "ringing -1"})
		save(t, s, bridge.CallsMissed{})
		are(map[string]string{"OLD": "missed -1", "DONE": "answered_elsewhere -1", "NEW": "missed -1"})
		sameList(t, "events", logged(t, s)[before:], []string{"call.updated " + string(alice), "call.updated " + string(carol)})
	})
}

// A call that was missed while the bridge was away is never said to ring. Another
// device may have taken or rejected it.
func TestCalls_ThatRangDuringAnOutageAreMissed(t *testing.T) {
	t.Parallel()
	for state, want := range map[bridge.CallState]string{
		"":                           "missed -1",
		bridge.CallEnded:             "missed 1",
		bridge.CallRejected:          "rejected 1",
		bridge.CallAnsweredElsewhere: "answered_elsewhere -1",
	} {
		s := newStore(t)
		late := rings(alice, "C", 0)
		late.State = bridge.CallMissed
		save(t, s, late)
		page := events(t, s, read.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventCallCreated}}})
		if len(page.Events) != 1 || page.Events[0].Call.State != bridge.CallMissed {
			t.Errorf("announced as %+v", page.Events)
		}
		if state != "" {
			save(t, s, told(alice, "C", state, 1))
		}
		if got := stateOf(t, s, "C"); got != want {
			t.Errorf("after %q: %s, want %s", state, got, want)
		}
	}
}

// TestCalls_MissedAtARestartGetTheirEnd: the network reports the end of a call only after the
// restart that marked it as missed. The end is stored and logged, once.
func TestCalls_MissedAtARestartGetTheirEnd(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, rings(alice, "C", 0))
	save(t, s, bridge.CallsMissed{})
	before := len(logged(t, s))
	for seconds := range 3 {
		save(t, s, told(alice, "C", bridge.CallEnded, seconds+1))
	}
	if got := stateOf(t, s, "C"); got != "missed 1" {
		t.Error(got)
	}
	sameList(t, "events", logged(t, s)[before:], []string{"call.updated " + string(alice)})
}

// Thousands of calls by one stranger take a bounded place, and others' stay.
func TestCalls_OfOneStrangerAreBounded(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	flood := []bridge.Fact{rings(alice, "FIRST", 0)}
	for i := range maxCallsOfOne + 200 {
		flood = append(flood, rings(bob, fmt.Sprint("B", i), i))
	}
	save(t, s, flood...)
	got := calls(t, s, bridge.CallQuery{Chat: bob, Limit: 5000})
	if len(got) != maxCallsOfOne || got[0].ID != fmt.Sprint("B", maxCallsOfOne+199) {
		t.Errorf("%d calls, the newest is %s", len(got), got[0].ID)
	}
	if got := stateOf(t, s, "FIRST"); got != "ringing -1" {
		t.Error(got)
	}
	if page, err := s.Events(t.Context(), read.EventQuery{Limit: 5000, EventFilter: bridge.EventFilter{Chats: []bridge.JID{bob}}}); err != nil || len(page.Events) != maxCallsOfOne+1 {
		t.Errorf("%d events, %v", len(page.Events), err) // with that of the chat; those of calls that are gone are left out
	}
}

func TestCalls_GoWithTheirAge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range retainBatch + 3 {
		save(t, s, rings(alice, fmt.Sprint("A", i), i))
	}
	if _, err := s.Retain(t.Context(), at(retainBatch+1).Time); err != nil {
		t.Fatal(err)
	}
	if got := calls(t, s, bridge.CallQuery{}); len(got) != 2 {
		t.Errorf("%d calls are left", len(got))
	}
}

func TestPlans_OfCallsAreCheap(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, rings(alice, "A", 0))
	since := at(1) // the whole list is walked in its order, up to the page's end
	for _, q := range []bridge.CallQuery{{Chat: alice}, {Since: &since}, {Chat: alice, Since: &since, Cursor: sqlite.Cursor(read.ListCalls, 1, 1)}} {
		err := s.Read(t.Context(), func(r *read.Snapshot) {
			query, args := r.CallsQuery(q)
			wantCheap(t, s, query, args)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wantCheap(t, s, "SELECT seq, ifnull(chat, 0) FROM calls WHERE state = 'ringing' AND noted_at <= ? ORDER BY noted_at, seq", []any{1})
	wantCheap(t, s, "SELECT seq FROM calls WHERE caller = ? ORDER BY seq DESC LIMIT 1 OFFSET ?", []any{1, 1})
}
