package store

import (
	"context"
	"testing"

	"bridged/internal/bridge"
)

func TestNames_AreFoundWithoutAccents(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Contact{JID: alice, Name: ptr("Sofía Ramírez")}, bridge.Contact{JID: bob, PushName: ptr("МИХАЙЛО")}, bridge.Contact{JID: carol, BusinessName: ptr("がぎ")},
		bridge.Group{JID: club, Name: "Ἀθῆναι أحمد", Participants: []bridge.Participant{{JID: alice}, {JID: bob}}},
		says(alice, alice, "A1", 1, "x"), says(bob, bob, "B1", 2, "x"), says(carol, carol, "C1", 3, "x"), says(club, alice, "D1", 4, "x"))
	for q, want := range map[string][]bridge.JID{
		"sofia": {alice}, "SOFÍA R": {alice}, "sofi\u0301a": {alice}, "Sofîa": {alice}, "ramirez": {alice},
		"михаило": {bob}, "Й": {bob}, "がぎ": {carol}, "かき": {}, "αθηναι": {club}, "ἀθή": {club}, "احمد": {club}, "أحمد": {club}, "sofiá": {alice}, "sofio": {},
	} {
		jids := []bridge.JID{}
		for _, chat := range chats(t, s, bridge.ChatQuery{Q: q}) {
			jids = append(jids, chat.JID)
		}
		sameList(t, "chats "+q, jids, want)
		page, err := s.Contacts(context.Background(), bridge.ContactQuery{Q: q})
		if err != nil {
			t.Fatal(err)
		}
		people := []bridge.JID{}
		for _, contact := range page.Items {
			people = append(people, contact.JID)
		}
		if len(want) == 1 && want[0] == club {
			want = []bridge.JID{}
		}
		sameList(t, "contacts "+q, people, want)
	}
}

// TestContacts_AreSortedWithoutAccents: É comes beside E, not behind Z.
func TestContacts_AreSortedWithoutAccents(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Contact{JID: alice, Name: ptr("Zoe")}, bridge.Contact{JID: bob, Name: ptr("Émile")}, bridge.Contact{JID: carol, Name: ptr("Emily")})
	page, err := s.Contacts(context.Background(), bridge.ContactQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, contact := range page.Items {
		names = append(names, contact.Name)
	}
	sameList(t, "contacts", names, []string{"Émile", "Emily", "Zoe"})
}

func TestChats_AreOfOneKindEach(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const town bridge.JID = "120363000000000009@g.us"
	save(t, s, owner(), bridge.Group{JID: club, Name: "Club"}, bridge.Group{JID: town, Name: "Town", IsCommunity: true},
		says(alice, alice, "A1", 1, "x"), iSay(me, "M1", 2, "a note"), says(club, alice, "C1", 3, "x"))
	var all []bridge.JID
	for kind, want := range map[bridge.ChatKind]bridge.JID{
		bridge.KindGroup: club, bridge.KindIndividual: alice, bridge.KindCommunity: town, bridge.KindSelf: me,
	} {
		for _, chat := range chats(t, s, bridge.ChatQuery{Kind: kind}) {
			if all = append(all, chat.JID); chat.JID != want {
				t.Errorf("%s: %s", kind, chat.JID)
			}
		}
	}
	if len(all) != 4 {
		t.Errorf("the kinds have %v", all)
	}
	save(t, s, bridge.Group{JID: town, Name: "Town"})
	if got := chats(t, s, bridge.ChatQuery{Kind: bridge.KindCommunity}); len(got) != 0 {
		t.Errorf("a group that is no community any more: %v", got)
	}
}
