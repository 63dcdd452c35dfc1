package store

import (
	"fmt"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// asks is a notification that somebody asks to be let into the club.
func asks(seconds int, people ...bridge.JID) bridge.GroupChange {
	change := bridge.GroupChange{JID: club, Timestamp: at(seconds)}
	for _, jid := range people {
		change.Asked = append(change.Asked, bridge.Participant{JID: jid})
	}
	return change
}

// asksNoMore is a notification that they do so no more.
func asksNoMore(seconds int, people ...bridge.JID) bridge.GroupChange {
	change := asks(seconds, people...)
	change.Asked, change.AskNoMore = nil, change.Asked
	return change
}

// requestsTold returns what the log tells of requests: "+" and "-" with JIDs.
func requestsTold(t *testing.T, s *Store) (told []string) {
	t.Helper()
	page, err := s.Events(t.Context(), read.EventQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		if e.JoinRequests == nil {
			continue
		}
		if e.Group == nil || e.ChatJID != club {
			t.Errorf("told of %+v", e)
		}
		for _, r := range e.JoinRequests.Created {
			told = append(told, fmt.Sprintf("+%s %s", r.JID, r.DisplayName))
		}
		for _, r := range e.JoinRequests.Revoked {
			told = append(told, "-"+string(r.JID))
		}
	}
	return told
}

// However often the network tells of a request, it is logged once; one that is made
// again is another. Whoever asked is shown by the name that they have today.
func TestJoinRequests_AreLoggedOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	name := "Alice"
	save(t, s, bridge.Group{JID: club, Name: "Club"})
	for range 2 {
		save(t, s, asks(1, aliceLID, bob))
	}
	for range 2 {
		save(t, s, asksNoMore(2, aliceLID))
	}
	save(t, s, asks(1, aliceLID)) // it comes again, late
	save(t, s, asks(3, aliceLID), asksNoMore(2, aliceLID))
	save(t, s, bridge.GroupChange{JID: club, Joined: []bridge.Participant{{JID: bob}}, Timestamp: at(4)}, asksNoMore(5, bob))
	save(t, s, says(alice, alice, "A1", 5, "hi"), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Contact{JID: alice, Name: &name})
	want := []string{"+" + string(alice) + " Alice", "+" + string(bob) + " ", "-" + string(alice), "+" + string(alice) + " Alice", "+" + string(alice) + " Alice"}
	sameList(t, "told", requestsTold(t, s), want)
	checkSound(t, s)
}

func TestMemberLabels_TheNewestCounts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	label := func(member bridge.JID, text string, seconds int) bridge.MemberLabel {
		return bridge.MemberLabel{Chat: club, Member: member, Label: text, SetAt: at(seconds)}
	}
	save(t, s, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice}, {LID: bobLID}}})
	is := func(what string, want ...string) {
		t.Helper()
		got := []string{}
		for _, p := range group(t, s, club).Participants {
			got = append(got, string(p.JID)+" "+p.Label)
		}
		sameList(t, what, got, want)
	}
	before := len(logged(t, s))
	for range 2 {
		save(t, s, label(alice, "Captain", 5), label(bobLID, "Cook", 5))
	}
	save(t, s, label(alice, "Cabin boy", 4), label(carol, "Nobody", 5))
	is("labels", string(bobLID)+" Cook", string(alice)+" Captain")
	sameList(t, "events", logged(t, s)[before:], []string{"group.updated " + string(club)})
	save(t, s, bridge.Identity{PN: bob, LID: bobLID}, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice}, {JID: bob}}})
	is("after the group was described", string(alice)+" Captain", string(bob)+" Cook")
	save(t, s, label(alice, "", 6))
	is("taken back", string(alice)+" ", string(bob)+" Cook")
	save(t, s, bridge.GroupChange{JID: club, Left: []bridge.JID{bob}}, bridge.GroupChange{JID: club, Joined: []bridge.Participant{{JID: bob}}})
	is("of one who left and came back", string(alice)+" ", string(bob)+" ")
}
