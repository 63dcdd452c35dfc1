package store

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// lockedClub is a group that only its admin Alice may change.
func lockedClub() bridge.Group {
	return bridge.Group{JID: club, Name: "Club", IsLocked: true, Participants: []bridge.Participant{{JID: alice, IsAdmin: true}, {JID: bob}, {JID: carol}}}
}

// inHours is a moment that no test lives to see.
func inHours(hours int) bridge.Time {
	return bridge.At(time.Now().Add(time.Duration(hours) * time.Hour).Truncate(time.Second))
}

func pin(chat, by bridge.JID, id string, seconds int, until bridge.Time) bridge.Pin {
	return bridge.Pin{Chat: chat, Target: id, By: by, Until: until, Timestamp: at(seconds)}
}

func keep(chat, by bridge.JID, id string, seconds int, kept bool) bridge.Keep {
	return bridge.Keep{Chat: chat, Target: id, By: by, Kept: kept, Timestamp: at(seconds)}
}

// toldSince returns the types of the events behind a number.
func toldSince(t *testing.T, s *Store, after int64) (types []bridge.EventType) {
	t.Helper()
	page, err := s.Events(t.Context(), read.EventQuery{After: after, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range page.Events {
		types = append(types, event.Type)
	}
	return types
}

func lastNumber(t *testing.T, s *Store) int64 {
	t.Helper()
	last, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func TestPin_TheLastOneCounts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	until := inHours(24)
	save(t, s, says(alice, alice, "A1", 1, "remember"))
	for _, step := range []struct {
		name string
		fact bridge.Fact
		want *bridge.Time
		told int
	}{
		{"a pin", pin(alice, alice, "A1", 10, until), &until, 1},
		{"the same pin again", pin(alice, alice, "A1", 10, until), &until, 0},
		{"an older unpin by the other side", pin(alice, me, "A1", 9, bridge.Time{}), &until, 0},
		{"a later unpin", pin(alice, me, "A1", 11, bridge.Time{}), nil, 1},
		{"the first pin again", pin(alice, alice, "A1", 10, until), nil, 0},
		{"a pin that is over", pin(alice, alice, "A1", 12, at(20)), nil, 1},
		{"a pin of what is not stored", pin(alice, alice, "A2", 12, until), nil, 0},
		{"a pin once more", pin(alice, alice, "A1", 13, until), &until, 1},
	} {
		before := lastNumber(t, s)
		save(t, s, step.fact)
		if diff := cmp.Diff(step.want, message(t, s, alice, "A1").PinnedUntil); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
		if types := toldSince(t, s, before); !slices.Equal(types, slices.Repeat([]bridge.EventType{bridge.EventMessageUpdated}, step.told)) {
			t.Errorf("%s: the log tells %v", step.name, types)
		}
	}
}

// TestPin_EndsByItself when its time is over.
func TestPin_EndsByItself(t *testing.T) {
	t.Parallel()
	ran := time.Duration(0)
	clock := bridge.ClockOf(time.Time{}, func() time.Time { return at(0).Add(ran) }, func() time.Duration { return ran })
	s := openWith(t, Options{Path: empty.NewFile(t), Log: zerolog.Nop(), Clock: clock})
	until := at(3600)
	save(t, s, says(alice, alice, "A1", 1, "remember"), pin(alice, alice, "A1", 2, until))
	if m := message(t, s, alice, "A1"); m.PinnedUntil == nil || !m.PinnedUntil.Equal(until.Time) {
		t.Errorf("pinned until %v", m.PinnedUntil)
	}
	ran = time.Hour
	if m := message(t, s, alice, "A1"); m.PinnedUntil != nil {
		t.Errorf("still pinned until %v", m.PinnedUntil)
	}
}

// TestMarks_InARestrictedGroup are its admins': before the group is known they wait.
func TestMarks_InARestrictedGroup(t *testing.T) {
	t.Parallel()
	until := inHours(24)
	for name, known := range map[string]bool{"known": true, "not known yet": false} {
		s := newStore(t)
		if known {
			save(t, s, lockedClub())
		}
		for _, id := range []string{"BY-ADMIN", "BY-MEMBER", "BY-STRANGER", "BY-AUTHOR"} {
			m := says(club, bob, id, 1, id)
			m.Expiration = 3600
			save(t, s, m)
		}
		for id, by := range map[string]bridge.JID{"BY-ADMIN": alice, "BY-MEMBER": carol, "BY-STRANGER": "4917099@s.whatsapp.net", "BY-AUTHOR": bob} {
			save(t, s, pin(club, by, id, 2, until), keep(club, by, id, 2, true))
		}
		if !known {
			for _, m := range historyOf(t, s, club) {
				if m.PinnedUntil != nil || m.Kept {
					t.Errorf("%s: %s is marked before anybody knows who may", name, m.ID)
				}
			}
			save(t, s, lockedClub())
		}
		for id, want := range map[string][2]bool{"BY-ADMIN": {true, true}, "BY-MEMBER": {}, "BY-STRANGER": {}, "BY-AUTHOR": {false, true}} {
			if m := message(t, s, club, id); (m.PinnedUntil != nil) != want[0] || m.Kept != want[1] {
				t.Errorf("%s: %s: pinned until %v, kept %v", name, id, m.PinnedUntil, m.Kept)
			}
		}
		if n := pendingCount(t, s); n != 0 {
			t.Errorf("%s: %d changes still wait", name, n)
		}
	}
}

// TestKeep_WhatTheAuthorLetsGoStaysSo, whichever comes first, and whoever wants to
// keep it.
func TestKeep_WhatTheAuthorLetsGoStaysSo(t *testing.T) {
	t.Parallel()
	group := lockedClub()
	group.IsLocked = false
	for name, test := range map[string]struct {
		facts []bridge.Fact
		kept  bool
	}{
		"kept by a member":               {[]bridge.Fact{keep(club, carol, "M", 2, true)}, true},
		"and let go by another":          {[]bridge.Fact{keep(club, carol, "M", 2, true), keep(club, alice, "M", 3, false)}, false},
		"and kept again":                 {[]bridge.Fact{keep(club, carol, "M", 2, true), keep(club, alice, "M", 3, false), keep(club, carol, "M", 4, true)}, true},
		"let go earlier":                 {[]bridge.Fact{keep(club, carol, "M", 3, true), keep(club, alice, "M", 2, false)}, true},
		"let go by the author":           {[]bridge.Fact{keep(club, carol, "M", 2, true), keep(club, bob, "M", 3, false), keep(club, carol, "M", 4, true)}, false},
		"the author's word comes later":  {[]bridge.Fact{keep(club, carol, "M", 4, true), keep(club, bob, "M", 3, false)}, false},
		"the author changes their mind":  {[]bridge.Fact{keep(club, bob, "M", 3, false), keep(club, bob, "M", 4, true)}, true},
		"another lets go what they kept": {[]bridge.Fact{keep(club, bob, "M", 3, true), keep(club, carol, "M", 4, false)}, false},
	} {
		s := newStore(t)
		m := says(club, bob, "M", 1, "for now")
		m.Expiration = 3600
		save(t, s, group, m)
		for _, fact := range test.facts {
			save(t, s, fact)
		}
		got := message(t, s, club, "M")
		if got.Kept != test.kept || (got.ExpiresAt == nil) != test.kept {
			t.Errorf("%s: kept %v, expires %v", name, got.Kept, got.ExpiresAt)
		}
	}
}

// TestMarks_OutlastEditsAndPlaceholders, and go with the message.
func TestMarks_OutlastEditsAndPlaceholders(t *testing.T) {
	t.Parallel()
	s, until := newStore(t), inHours(24)
	isMarked := func(id string, want bool) {
		t.Helper()
		if m := message(t, s, alice, id); (m.PinnedUntil != nil) != want || m.Kept != want {
			t.Errorf("%s %q: pinned until %v, kept %v", id, m.Content, m.PinnedUntil, m.Kept)
		}
	}
	save(t, s, says(alice, alice, "A1", 1, "first"), placeholder(alice, alice, "A2", 2))
	for _, id := range []string{"A1", "A2"} {
		save(t, s, pin(alice, alice, id, 3, until), keep(alice, me, id, 3, true))
	}
	save(t, s, rewritten(alice, alice, "A1", 4, "second"), says(alice, alice, "A2", 2, "the real one"))
	isMarked("A1", true)
	isMarked("A2", true)
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(5)}, pin(alice, alice, "A1", 6, until), keep(alice, me, "A1", 6, true))
	isMarked("A1", false)
}

func extensiblePoll(chat, sender bridge.JID, id string, seconds int) bridge.Message {
	m := poll(chat, sender, id, seconds)
	m.Poll.Extensible = true
	return m
}

func option(chat, by bridge.JID, id, name string, seconds int) bridge.PollOptionAdded {
	return bridge.PollOptionAdded{Chat: chat, Target: id, By: by, Name: name, Timestamp: at(seconds)}
}

// optionsOf are a poll's options, their votes, and who added them.
func optionsOf(t *testing.T, s *Store, chat bridge.JID, id string) (options []bridge.PollOption) {
	t.Helper()
	if poll := message(t, s, chat, id).Poll; poll != nil {
		options = poll.Options
	}
	return options
}

func TestPollOption_IsAddedAndVotedFor(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), extensiblePoll(club, alice, "P", 1), poll(club, alice, "CLOSED", 1))
	vote := func(by bridge.JID, name string) bridge.PollVote {
		return bridge.PollVote{Chat: club, Target: "P", Voter: by, Hashes: [][]byte{sha(name)}, Timestamp: at(9)}
	}
	before := lastNumber(t, s)
	save(t, s, vote(carol, "maybe"), option(club, bobLID, "P", "maybe", 3), option(club, me, "P", "never", 2),
		option(club, carol, "P", "maybe", 4), option(club, carol, "P", "yes", 4), option(club, carol, "P", "", 4),
		option(club, bob, "CLOSED", "maybe", 3), option(club, alice, "CLOSED", "perhaps", 3))
	save(t, s, bridge.Identity{PN: bob, LID: bobLID})
	none := []bridge.JID{}
	want := []bridge.PollOption{
		{Name: "yes", Voters: none},
		{Name: "no", Voters: none},
		{Name: "never", Voters: none, AddedBy: me},
		{Name: "maybe", Votes: 1, Voters: []bridge.JID{carol}, AddedBy: bob},
	}
	if diff := cmp.Diff(want, optionsOf(t, s, club, "P")); diff != "" {
		t.Error(diff)
	}
	want = []bridge.PollOption{{Name: "yes", Voters: none}, {Name: "no", Voters: none}, {Name: "perhaps", Voters: none, AddedBy: alice}}
	if diff := cmp.Diff(want, optionsOf(t, s, club, "CLOSED")); diff != "" {
		t.Errorf("to which only its author adds: %s", diff)
	}
	for _, kind := range toldSince(t, s, before) {
		if kind != bridge.EventMessageUpdated && kind != bridge.EventChatUpdated {
			t.Errorf("the log tells %s", kind)
		}
	}
	// Its author edits the poll, with the options as they know them.
	edited := extensiblePoll(club, alice, "P", 5)
	edited.Poll.Options = append(edited.Poll.Options, bridge.PollOption{Name: "maybe"})
	edited.Poll.Name = "Supper?"
	save(t, s, bridge.Edit{Chat: club, Target: "P", Editor: alice, Timestamp: at(5), New: edited})
	names := []string{}
	for _, o := range optionsOf(t, s, club, "P") {
		names = append(names, o.Name)
	}
	sameList(t, "options after an edit", names, []string{"yes", "no", "maybe", "never"})
}

// TestPollOption_NobodyFillsAPoll without end.
func TestPollOption_NobodyFillsAPoll(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, extensiblePoll(alice, alice, "P", 1))
	for i := range 2 * bridge.MaxPollOptions {
		save(t, s, option(alice, alice, "P", string(rune('a'+i)), i))
	}
	if n := len(optionsOf(t, s, alice, "P")); n != bridge.MaxPollOptions {
		t.Errorf("%d options", n)
	}
}

func TestEventResponse_TheLatestOfEachCounts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	party := says(club, alice, "E", 1, "Party")
	party.MessageType, party.Event = "eventMessage", &bridge.CalendarEvent{Name: "Party"}
	answer := func(by bridge.JID, answer bridge.EventAnswer, guests, seconds int) bridge.EventResponse {
		return bridge.EventResponse{Chat: club, Target: "E", Sender: by, Answer: answer, Guests: guests, Timestamp: at(seconds)}
	}
	save(t, s, owner(), answer(bobLID, bridge.EventGoing, 3, 9), party)
	before := lastNumber(t, s)
	save(t, s, answer(carol, bridge.EventNotGoing, 0, 5), answer(carol, bridge.EventGoing, 2, 4), answer(me, bridge.EventGoing, 1, 6))
	save(t, s, answer(alice, bridge.EventGoing, 0, 5))
	save(t, s, answer(alice, bridge.EventGoing, 0, 5))
	save(t, s, answer(alice, 0, 0, 7), bridge.Identity{PN: bob, LID: bobLID}, answer(bob, bridge.EventMaybe, 1, 8))
	save(t, s, answer(carol, 99, 0, 2))
	want := bridge.EventResponses{Going: []bridge.JID{me, bob}, Maybe: []bridge.JID{}, NotGoing: []bridge.JID{carol}, Guests: 4}
	if diff := cmp.Diff(&want, message(t, s, club, "E").Event.Responses); diff != "" {
		t.Error(diff)
	}
	if n := len(slices.DeleteFunc(toldSince(t, s, before), func(e bridge.EventType) bool { return e != bridge.EventMessageUpdated })); n != 3 {
		t.Errorf("%d events tell of three transactions that changed something", n)
	}
	save(t, s, bridge.Deletion{Chat: club, Target: "E", By: alice, Timestamp: at(20)})
	if m := message(t, s, club, "E"); m.Event != nil {
		t.Errorf("a deleted event: %+v", m.Event)
	}
	err := s.Read(context.Background(), func(r *read.Snapshot) {
		var left int
		if r.Find("SELECT count(*) FROM event_responses", nil, &left); left == 0 {
			return
		}
		t.Errorf("%d answers to a deleted event stay", left)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func star(chat bridge.JID, id string, seconds int, starred bool) bridge.Star {
	return bridge.Star{Chat: chat, Target: id, By: me, Starred: starred, Timestamp: at(seconds)}
}

// TestStar_TheLastChangeCounts, in whatever order the changes come, also before the message.
func TestStar_TheLastChangeCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stars   []bridge.Star
		starred bool
		events  int // if the message came first
	}{
		"starred":             {[]bridge.Star{star(alice, "M", 2, true)}, true, 1},
		"told twice":          {[]bridge.Star{star(alice, "M", 2, true), star(alice, "M", 2, true)}, true, 1},
		"and removed":         {[]bridge.Star{star(alice, "M", 2, true), star(alice, "M", 3, false)}, false, 2},
		"removed earlier":     {[]bridge.Star{star(alice, "M", 3, true), star(alice, "M", 2, false)}, true, 1},
		"never starred":       {[]bridge.Star{star(alice, "M", 2, false)}, false, 0},
		"starred once more":   {[]bridge.Star{star(alice, "M", 2, true), star(alice, "M", 3, false), star(alice, "M", 4, true)}, true, 3},
		"removed before that": {[]bridge.Star{star(alice, "M", 3, false), star(alice, "M", 2, true)}, false, 0},
	} {
		for _, first := range []bool{true, false} {
			s, m := newStore(t), says(alice, alice, "M", 1, "text")
			save(t, s, owner())
			if first {
				save(t, s, m)
			}
			for _, change := range test.stars {
				save(t, s, change)
			}
			if !first {
				save(t, s, m)
			}
			if got := message(t, s, alice, "M").Starred; got != test.starred {
				t.Errorf("%s, message first: %v: starred %v", name, first, got)
			}
			changes := 0
			for _, e := range events(t, s, read.EventQuery{Limit: 100}).Events {
				if slices.Contains(e.Changes.Fields, bridge.ChangedStarred) {
					changes++
				}
			}
			if first && changes != test.events {
				t.Errorf("%s: %d events, want %d", name, changes, test.events)
			}
		}
	}
}

// TestStar_OutlastsEdits and placeholders, and goes with the message. A star that does not wait for its
// message is ignored without it.
func TestStar_OutlastsEdits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "A1", 1, "first"), placeholder(alice, alice, "A2", 2))
	save(t, s, star(alice, "A1", 3, true), star(alice, "A2", 3, true), bridge.Star{Chat: alice, Target: "A3", Starred: true, Timestamp: at(3)})
	save(t, s, rewritten(alice, alice, "A1", 4, "second"), says(alice, alice, "A2", 2, "the real one"), says(alice, alice, "A3", 5, "later"))
	for id, want := range map[string]bool{"A1": true, "A2": true, "A3": false} {
		if m := message(t, s, alice, id); m.Starred != want {
			t.Errorf("%s %q: starred %v", id, m.Content, m.Starred)
		}
	}
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(5)}, star(alice, "A1", 6, true))
	if message(t, s, alice, "A1").Starred {
		t.Error("a deleted message is starred")
	}
}
