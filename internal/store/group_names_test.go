package store

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// TestGroup_WithoutASubjectIsNamedByItsMembers in chats, groups, searches and events, for
// readers of one chat, too; and the name changes with the members and their names.
func TestGroup_WithoutASubjectIsNamedByItsMembers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Contact{JID: bob, PushName: ptr("Grace")}, says(club, bob, "A1", 1, "x"))
	shown := func(step, want string) {
		t.Helper()
		group, err := s.Group(t.Context(), club)
		if err != nil || group.Name != want {
			t.Errorf("%s: the group is %q, want %q; %v", step, group.Name, want, err)
		}
		for _, q := range []bridge.ChatQuery{{Q: want}, {Only: []bridge.JID{club}}} {
			if got := chats(t, s, q); len(got) != 1 || got[0].Name != want {
				t.Errorf("%s: chats of %+v: %+v, want %q", step, q, got, want)
			}
		}
	}
	shown("before the network describes it", club.User())
	save(t, s, bridge.Group{JID: club, Participants: []bridge.Participant{{JID: me}, {JID: bob}, {LID: aliceLID, JID: alice}}})
	shown("described", "Grace, +"+alice.User())
	last := len(logged(t, s))
	save(t, s, bridge.Contact{JID: aliceLID, Name: ptr("Ada\nLovelace")})
	shown("a contact with a name", "Ada Lovelace, Grace")
	sameList(t, "events", logged(t, s)[last:], []string{"chat.updated " + string(club), "group.updated " + string(club)})
	save(t, s, bridge.GroupChange{JID: club, By: me, Joined: []bridge.Participant{{JID: carol}, {JID: "12@lid"}}, Timestamp: at(5)})
	shown("new members", "Ada Lovelace, Grace, +"+carol.User()+", 1 other")
	save(t, s, bridge.GroupChange{JID: club, By: bob, Left: []bridge.JID{bob}, Timestamp: at(6)})
	shown("a member left", "Ada Lovelace, +"+carol.User()+", 1 other")
	save(t, s, bridge.Identity{PN: "4915200000012@s.whatsapp.net", LID: "12@lid"}, bridge.Contact{JID: "12@lid", PushName: ptr("Carl")})
	shown("a LID whose number is known", "Ada Lovelace, Carl, +"+carol.User())
	save(t, s, bridge.GroupChange{JID: club, By: alice, Name: ptr("Readers"), Timestamp: at(7)})
	save(t, s, bridge.Contact{JID: aliceLID, Name: ptr("Augusta")})
	shown("a subject", "Readers")
	page, err := s.Events(t.Context(), read.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventGroupUpdated}}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var subjects []bridge.Change[string]
	for _, e := range page.Events {
		if e.Changes.Group != nil && e.Changes.Group.Subject != nil {
			subjects = append(subjects, *e.Changes.Group.Subject)
		}
	}
	sameList(t, "changes of the subject", subjects, []bridge.Change[string]{{New: "Readers"}})
	save(t, s, bridge.Group{JID: club, Participants: []bridge.Participant{{JID: me}}})
	shown("alone", "You")
}
