package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func found(t *testing.T, s *Store, q string) []bridge.JID {
	t.Helper()
	var jids []bridge.JID
	for _, chat := range chats(t, s, bridge.ChatQuery{Q: q}) {
		jids = append(jids, chat.JID)
	}
	return jids
}

func TestUsernames_AreShownAndFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	s := openStore(t, path)
	save(t, s, owner(), says(aliceLID, aliceLID, "M1", 1, "hi"), says(bob, bob, "M2", 2, "ho"), bridge.Contact{JID: aliceLID, Username: ptr("Alice.42")})
	if m := message(t, s, aliceLID, "M1"); m.SenderUsername == nil || *m.SenderUsername != "Alice.42" || m.PushName != "Alice.42" {
		t.Errorf("the message is by %v, %q", m.SenderUsername, m.PushName)
	}
	if got := matchesOf(t, s, bridge.SearchQuery{Q: "hi"}); len(got) != 1 || got[0].SenderUsername == nil || *got[0].SenderUsername != "Alice.42" {
		t.Errorf("found %+v", got)
	}
	save(t, s, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{LID: aliceLID}, {JID: bob}}})
	group, err := s.Group(t.Context(), club)
	if err != nil || len(group.Participants) != 2 || group.Participants[0].Username == nil || group.Participants[1].Username != nil {
		t.Errorf("the group: %+v, %v", group.Participants, err)
	}
	for _, q := range []string{"alice", "@ALICE.4", aliceLID.User(), string(aliceLID)} {
		sameList(t, "chats "+q, found(t, s, q), []bridge.JID{aliceLID})
	}
	for _, q := range []string{"alice", "@ALICE.4"} {
		sameList(t, "contacts "+q, namesOf(contacts(t, s, bridge.ContactQuery{Q: q})), []bridge.JID{aliceLID})
	}
	chat, err := s.Chat(t.Context(), aliceLID)
	if err != nil || chat.Username == nil || *chat.Username != "Alice.42" || chat.Name != "Alice.42" {
		t.Errorf("the chat: %+v, %v", chat, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if m := message(t, openStore(t, path), aliceLID, "M1"); m.SenderUsername == nil || *m.SenderUsername != "Alice.42" {
		t.Errorf("after a restart the message is by %v", m.SenderUsername)
	}
}

// TestUsernames_AreOnePersonsAtATime: a change is told once, and whoever had a
// username before has none.
func TestUsernames_AreOnePersonsAtATime(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(aliceLID, aliceLID, "M1", 1, "hi"), says(bob, bob, "M2", 2, "ho"), bridge.Contact{JID: aliceLID, Username: ptr("flower")})
	before := events(t, s, read.EventQuery{}).Next
	save(t, s, bridge.Contact{JID: aliceLID, Username: ptr("flower")})
	sameList(t, "told of what changed nothing", lines(events(t, s, read.EventQuery{After: before}).Events), nil)
	save(t, s, bridge.Contact{JID: bob, Username: ptr("flower")})
	if s.UsernameOf(aliceLID) != nil || *s.UsernameOf(bob) != "flower" {
		t.Errorf("alice has %v, bob has %v", s.UsernameOf(aliceLID), s.UsernameOf(bob))
	}
	sameList(t, "told", lines(events(t, s, read.EventQuery{After: before}).Events), []string{
		fmt.Sprintf("%d chat.updated %s", before+1, aliceLID.User()), fmt.Sprintf("%d chat.updated flower", before+2),
	})
	sameList(t, "chats", found(t, s, "flower"), []bridge.JID{bob})
	save(t, s, bridge.Contact{JID: bob, Username: ptr("")})
	sameList(t, "chats", found(t, s, "flower"), nil)
}

// TestUsernames_GoWithThePerson whose number is learned, also into an older chat.
func TestUsernames_GoWithThePerson(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "M1", 1, "by number"), says(aliceLID, aliceLID, "M2", 2, "by LID"), bridge.Contact{JID: aliceLID, Username: ptr("flower")})
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	if m := message(t, s, alice, "M1"); m.SenderUsername == nil || *m.SenderUsername != "flower" {
		t.Errorf("the message is by %v", m.SenderUsername)
	}
	for _, q := range []string{"flower", aliceLID.User(), alice.User()} {
		sameList(t, "chats "+q, found(t, s, q), []bridge.JID{alice})
	}
}

// TestChats_AreFoundByEitherIdentity, also those that an earlier version stored,
// and not by a LID that has become somebody else's.
func TestChats_AreFoundByEitherIdentity(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "M1", 1, "hi"))
	sameList(t, "before the LID is known", found(t, s, aliceLID.User()), nil)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	for _, q := range []string{alice.User(), string(alice), aliceLID.User(), string(aliceLID), aliceLID.User()[4:]} {
		sameList(t, q, found(t, s, q), []bridge.JID{alice})
	}
	save(t, s, bridge.Contact{JID: alice, Name: ptr("Alice")})
	sameList(t, "renamed", found(t, s, aliceLID.User()), []bridge.JID{alice})
	save(t, s, says(bob, bob, "M2", 2, "ho"), bridge.Identity{PN: bob, LID: aliceLID})
	sameList(t, "moved", found(t, s, aliceLID.User()), []bridge.JID{bob})
}

// TestPeople_AreKnownWhenTheirMessagesShow: whoever reads a message that was just
// committed finds its sender, and a commit that fails leaves nobody behind.
func TestPeople_AreKnownWhenTheirMessagesShow(t *testing.T) {
	t.Parallel()
	var atCommit func() error
	s := openWith(t, Options{Path: empty.NewFile(t), Log: zerolog.Nop(), BeforeCommit: func() error {
		if atCommit != nil {
			return atCommit()
		}
		return nil
	}})
	save(t, s, owner(), says(bob, bob, "M0", 0, "ho"), bridge.Contact{JID: bob, Username: ptr("bob")})
	facts := []bridge.Fact{
		bridge.Identity{PN: alice, LID: aliceLID}, bridge.Contact{JID: aliceLID, PushName: ptr("al"), Username: ptr("bob")}, says(aliceLID, aliceLID, "M1", 1, "hi"),
	}
	atCommit = func() error {
		p, known := s.people.Find(aliceLID)
		if !known || p.PN != alice || p.Username != "bob" || p.PushName != "al" || s.UsernameOf(bob) != nil {
			t.Errorf("when its message is committed alice is %+v, bob has %v", p, s.UsernameOf(bob))
		}
		events(t, s, read.EventQuery{}) // somebody reads the log meanwhile
		return errors.New("disk full")
	}
	if err := s.Save(t.Context(), facts...); err == nil {
		t.Fatal("the commit did not fail")
	}
	if _, known := s.people.Find(aliceLID); known || s.Canonical(aliceLID) != aliceLID || *s.UsernameOf(bob) != "bob" {
		t.Errorf("a commit that failed has left alice as %s", s.Canonical(aliceLID))
	}
	for _, e := range events(t, s, read.EventQuery{}).Events {
		if m := e.Message; m != nil && (m.SenderUsername == nil || *m.SenderUsername != "bob") {
			t.Errorf("a commit that failed is remembered in the log: %+v", m)
		}
	}
	atCommit = nil
	save(t, s, facts...)
	if m := message(t, s, alice, "M1"); m.SenderJID != alice || *m.SenderUsername != "bob" {
		t.Errorf("the message is by %s", m.SenderJID)
	}
}

// TestPeople_AreThemselvesAfterAMergeThatFailed: a person who was found and merged in a
// transaction that failed gives the next new person their number in the tables.
func TestPeople_AreThemselvesAfterAMergeThatFailed(t *testing.T) {
	t.Parallel()
	s, fault := newFailingStore(t)
	save(t, s, owner(), says(alice, alice, "M1", 1, "hi"))
	fault.Set(errors.New("disk full"))
	if err := s.Save(t.Context(), says(aliceLID, aliceLID, "M2", 2, "by LID"), bridge.Identity{PN: alice, LID: aliceLID}); err == nil {
		t.Fatal("the commit did not fail")
	}
	fault.Set(nil)
	save(t, s, says(bob, bob, "M3", 3, "ho"))
	if m := message(t, s, bob, "M3"); m.SenderJID != bob {
		t.Errorf("bob's message is by %q", m.SenderJID)
	}
}

// TestPeople_AreOnEveryPage while others write for the first time.
func TestPeople_AreOnEveryPage(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner())
	const people = 300
	saved := make(chan error, 1)
	go func() {
		for i := range people {
			jid := bridge.JID(fmt.Sprintf("2000000%07d@lid", i))
			err := s.Save(t.Context(), bridge.Contact{JID: jid, Username: ptr(fmt.Sprint("user", i))}, says(club, jid, fmt.Sprint("M", i), i, "hi"))
			if err != nil {
				saved <- err
				return
			}
		}
		saved <- nil
	}()
	for shown := 0; shown < people; {
		page, err := s.Messages(t.Context(), bridge.MessageQuery{Chat: club, Limit: 5})
		if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(page.Items, func(m bridge.Message) bool { return m.SenderJID == "" || m.SenderUsername == nil }); i >= 0 {
			t.Fatalf("a page has a message of nobody: %+v", page.Items[i])
		}
		select {
		case err := <-saved:
			if err != nil {
				t.Fatal(err)
			}
			shown = people
		default:
		}
	}
}
