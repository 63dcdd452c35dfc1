package store

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// TestGroup_EventsSayWhatChangedAndWhoDidIt: five changes are not five equal groups.
func TestGroup_EventsSayWhatChangedAndWhoDidIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Group{
		JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice, IsAdmin: true}, {JID: bob}, {JID: me}},
	})
	before, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []bridge.GroupChange{
		{By: aliceLID, Joined: []bridge.Participant{{JID: carol}}},
		{By: alice, Promoted: []bridge.JID{bob}},
		{By: alice, Demoted: []bridge.JID{bob}},
		{By: alice, Left: []bridge.JID{bob}},
		{By: carol, Left: []bridge.JID{carol}},
		{By: alice, Name: ptr("Readers"), IsAnnounce: ptr(true), Topic: ptr("Thursdays"), Expiration: ptr(uint32(86400))},
	} {
		c.JID, c.Timestamp = club, at(5)
		save(t, s, c)
	}
	save(t, s, bridge.Group{JID: club, Name: "Readers", Topic: "Thursdays", IsAnnounce: true, Expiration: 86400, Participants: []bridge.Participant{{JID: alice, IsAdmin: true}, {JID: bob}}})
	page, err := s.Events(t.Context(), read.EventQuery{After: before, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventGroupUpdated}}})
	if err != nil {
		t.Fatal(err)
	}
	none := []bridge.JID{}
	change := func(by bridge.JID, set func(*bridge.GroupChanges)) *bridge.GroupChanges {
		c := &bridge.GroupChanges{At: at(5), By: by, Added: none, Removed: none, Left: none, Promoted: none, Demoted: none, NumberChanged: []bridge.NumberChange{}}
		set(c)
		return c
	}
	want := []*bridge.GroupChanges{
		change(alice, func(c *bridge.GroupChanges) { c.Added = []bridge.JID{carol} }),
		change(alice, func(c *bridge.GroupChanges) { c.Promoted = []bridge.JID{bob} }),
		change(alice, func(c *bridge.GroupChanges) { c.Demoted = []bridge.JID{bob} }),
		change(alice, func(c *bridge.GroupChanges) { c.Removed = []bridge.JID{bob} }),
		change(carol, func(c *bridge.GroupChanges) { c.Left = []bridge.JID{carol} }),
		change(alice, func(c *bridge.GroupChanges) {
			c.Subject, c.Topic = &bridge.Change[string]{Old: "Club", New: "Readers"}, &bridge.Change[string]{New: "Thursdays"}
			c.IsAnnounce, c.Expiration = &bridge.Change[bool]{New: true}, &bridge.Change[uint32]{New: 86400}
		}),
		change("", func(c *bridge.GroupChanges) {
			// The network has not dated it. A change that follows in the same second is not shown before it.
			c.At = bridge.At(page.Events[len(page.Events)-1].At.Truncate(time.Second))
			c.Added, c.Left = []bridge.JID{bob}, []bridge.JID{me}
		}),
	}
	var got []*bridge.GroupChanges
	for _, e := range page.Events {
		got = append(got, e.Changes.Group)
		encoded, err := bridge.EncodeJSON(e)
		var again bridge.Event
		if err == nil {
			err = json.Unmarshal(encoded, &again)
		}
		if diff := cmp.Diff(e.Changes.Group, again.Changes.Group); diff != "" || err != nil {
			t.Errorf("as JSON: %s, %v", diff, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestGroup_ItsOwnCreationIsNotLate: a group that the account has created began then, and not when bridged heard of it.
func TestGroup_ItsOwnCreationIsNotLate(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner())
	created := at(-60)
	save(t, s, bridge.Group{JID: club, Name: "Club", OwnerJID: me, CreatedAt: &created, Joined: true, JoinedBy: me, Participants: []bridge.Participant{{JID: me, IsAdmin: true}, {JID: bob}}})
	page, err := s.Events(t.Context(), read.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventGroupUpdated}}})
	if err != nil || len(page.Events) != 1 {
		t.Fatalf("%d events, %v", len(page.Events), err)
	}
	if change := page.Events[0].Changes.Group; change.At != created || change.By != me {
		t.Errorf("by %s at %v", change.By, change.At)
	}
}
