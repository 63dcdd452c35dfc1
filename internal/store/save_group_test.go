package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func group(t *testing.T, s *Store, jid bridge.JID) bridge.StoredGroup {
	t.Helper()
	g, err := s.Group(context.Background(), jid)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGroup_ShowsWhatTheNetworkSaid(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	fact := bridge.Group{
		JID: club, Name: "Club", Topic: "Thursdays", OwnerJID: aliceLID, CreatedAt: ptr(at(-100)),
		IsAnnounce: true, IsLocked: true, MemberAddMode: bridge.AddedByEveryone, Expiration: 604800,
		Participants: []bridge.Participant{
			{JID: bobLID, DisplayName: "+49 ∙∙∙ 03"},
			{JID: alice, LID: aliceLID, IsAdmin: true, IsSuperAdmin: true},
			{JID: carol, IsAdmin: true},
		},
	}
	save(t, s, bridge.Contact{JID: alice, Name: ptr("Alice A.")}, fact, says(club, carol, "C1", 5, "hi"))
	got := group(t, s, club)
	if got.UpdatedAt == nil {
		t.Error("no updatedAt")
	}
	want := bridge.StoredGroup{Group: fact, MessageCount: 1, LastMessageAt: ptr(at(5)), UpdatedAt: got.UpdatedAt}
	want.OwnerJID = alice
	want.Participants = []bridge.Participant{
		{JID: alice, LID: aliceLID, DisplayName: "Alice A.", IsAdmin: true, IsSuperAdmin: true},
		{JID: carol, IsAdmin: true},
		{JID: bobLID, LID: bobLID, DisplayName: "+49 ∙∙∙ 03"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if timer, err := s.ChatTimer(context.Background(), club); err != nil || timer.Seconds != 604800 {
		t.Errorf("timer: %v %v", timer, err)
	}
}

func TestGroup_IsToldOnlyWhereItChanged(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	fact := bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice}, {JID: bob}}}
	save(t, s, fact)
	before, updated := logged(t, s), group(t, s, club).UpdatedAt
	save(t, s, fact)
	sameList(t, "events", logged(t, s), before)
	if diff := cmp.Diff(updated, group(t, s, club).UpdatedAt); diff != "" {
		t.Error(diff)
	}
	fact.Participants = fact.Participants[:1]
	save(t, s, fact)
	sameList(t, "events", logged(t, s)[len(before):], []string{"chat.updated " + string(club), "group.updated " + string(club)})
	if got := group(t, s, club).Participants; len(got) != 1 || got[0].JID != alice {
		t.Errorf("participants: %+v", got)
	}
}

func TestGroup_IsKnownByItsJIDUntilTheNetworkTells(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	save(t, s, says(club, alice, "A1", 1, "hi"))
	save(t, s, bridge.GroupChange{JID: "120363000000000002@g.us", Joined: []bridge.Participant{{JID: alice}}, Timestamp: at(2)})
	unknown, err := s.GroupsWithoutInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sameList(t, "groups without info", unknown, []bridge.JID{club, "120363000000000002@g.us"})
	if c, err := s.Chat(ctx, club); err != nil || c.Name != club.User() || c.Participants != 0 || !c.IsGroup {
		t.Errorf("chat: %+v, %v", c, err)
	}
	save(t, s, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice}}})
	if unknown, err = s.GroupsWithoutInfo(ctx); err != nil || len(unknown) != 1 {
		t.Errorf("groups without info: %v, %v", unknown, err)
	}
	if c, err := s.Chat(ctx, club); err != nil || c.Name != "Club" || c.Participants != 1 {
		t.Errorf("chat: %+v, %v", c, err)
	}
}

func TestGroupChange_ChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Group{JID: club, Name: "Club", Topic: "old", IsLocked: true, MemberAddMode: bridge.AddedByEveryone, Participants: []bridge.Participant{
		{JID: alice, IsAdmin: true}, {JID: bob}, {JID: carol, IsAdmin: true},
	}})
	change := bridge.GroupChange{
		JID: club, Topic: ptr(""), IsAnnounce: ptr(true), Expiration: ptr(uint32(90)),
		Joined: []bridge.Participant{{JID: me}}, Left: []bridge.JID{alice}, Promoted: []bridge.JID{bob},
		Demoted: []bridge.JID{carol}, Timestamp: at(9),
	}
	save(t, s, change)
	got := group(t, s, club)
	want := bridge.Group{
		JID: club, Name: "Club", IsAnnounce: true, IsLocked: true, MemberAddMode: bridge.AddedByEveryone, Expiration: 90,
		Participants: []bridge.Participant{{JID: bob, IsAdmin: true}, {JID: me}, {JID: carol}},
	}
	if diff := cmp.Diff(want, got.Group); diff != "" {
		t.Error(diff)
	}
	before := logged(t, s)
	save(t, s, change)
	sameList(t, "events", logged(t, s), before)
}

func TestGroup_ThatIsNotStoredIsNotFound(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	for _, jid := range []bridge.JID{club, alice} {
		_, err := s.Group(context.Background(), jid)
		wantCode(t, err, bridge.CodeNotFound)
	}
}
