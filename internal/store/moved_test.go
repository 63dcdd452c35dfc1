package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

const (
	aliceNew    bridge.JID = "4915155500001@s.whatsapp.net"
	aliceNewLID bridge.JID = "10000000000091@lid"
)

// ofAlice checks that messages are in Alice's one chat, which all of her JIDs lead to.
func ofAlice(t *testing.T, s *Store, jid, lid bridge.JID, want []string, names ...bridge.JID) {
	t.Helper()
	for _, name := range append(names, jid, lid) {
		if got := s.Canonical(name); got != jid {
			t.Errorf("%s is %s, want %s", name, got, jid)
		}
		sameList(t, "history of "+string(name), ids(historyOf(t, s, name)), want)
	}
	if got := s.LIDOf(jid); got != lid {
		t.Errorf("the LID is %s, want %s", got, lid)
	}
	checkCounts(t, s)
}

func TestIdentityChange_ANewNumberKeepsTheChat(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]bridge.IdentityChange{
		"and the LID":      {OldPN: alice, NewPN: aliceNew},
		"with LIDs":        {OldPN: alice, NewPN: aliceNew, OldLID: aliceLID, NewLID: aliceLID},
		"named by the LID": {OldLID: aliceLID, NewPN: aliceNew, NewLID: aliceLID},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Contact{JID: alice, Name: ptr("Alice A.")}, says(alice, alice, "A1", 1, "old number"))
			save(t, s, change)
			save(t, s, bridge.Identity{PN: aliceNew, LID: aliceLID}, says(aliceLID, aliceLID, "A2", 2, "new number"))
			ofAlice(t, s, aliceNew, aliceLID, []string{"A1", "A2"}, alice)
			before := events(t, s, read.EventQuery{}).Next
			save(t, s, change, bridge.Identity{PN: alice, LID: aliceLID}) // both come again
			ofAlice(t, s, aliceNew, aliceLID, []string{"A1", "A2"}, alice)
			sameList(t, "told of what changed nothing", lines(events(t, s, read.EventQuery{After: before}).Events), nil)
			if list := chats(t, s, bridge.ChatQuery{}); len(list) != 1 || list[0].JID != aliceNew || list[0].Name != "Alice A." {
				t.Errorf("chats: %+v", list)
			}
		})
	}
}

func TestIdentityChange_ANewNumberAndLIDKeepTheChat(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/bridged.db"
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "before"))
	save(t, s, bridge.IdentityChange{OldPN: alice, NewPN: aliceNew, OldLID: aliceLID, NewLID: aliceNewLID})
	save(t, s, says(aliceNewLID, aliceNewLID, "A2", 2, "after"), says(aliceLID, aliceLID, "A3", 3, "late"))
	ofAlice(t, s, aliceNew, aliceNewLID, []string{"A1", "A2", "A3"}, alice, aliceLID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ofAlice(t, openStore(t, path), aliceNew, aliceNewLID, []string{"A1", "A2", "A3"}, alice, aliceLID)
}

// TestIdentityChange_IsAnnouncedAfterTheFirstMessage from the new number, which has made
// a chat of its own.
func TestIdentityChange_IsAnnouncedAfterTheFirstMessage(t *testing.T) {
	t.Parallel()
	for name, lids := range map[string][2]bridge.JID{"of the same LID": {aliceLID, aliceLID}, "of another LID": {aliceLID, aliceNewLID}} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "old number"))
			save(t, s, bridge.Identity{PN: aliceNew, LID: lids[1]}, says(lids[1], lids[1], "A2", 2, "new number"))
			save(t, s, bridge.IdentityChange{OldPN: alice, NewPN: aliceNew, OldLID: lids[0], NewLID: lids[1]})
			ofAlice(t, s, aliceNew, lids[1], []string{"A1", "A2"}, alice, aliceLID)
			if list := chats(t, s, bridge.ChatQuery{}); len(list) != 1 {
				t.Errorf("chats: %+v", list)
			}
		})
	}
}

// TestIdentityChange_LeavesTheNumbersFormerOwnerAlone: the new number was Bob's. His
// messages stay his, under his LID, and his next number is his, too.
func TestIdentityChange_LeavesTheNumbersFormerOwnerAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	bobNew := bridge.PhoneJID("4915155500002")
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Identity{PN: bob, LID: bobLID},
		says(alice, alice, "A1", 1, "of Alice"), says(bob, bob, "B1", 1, "of Bob"))
	save(t, s, bridge.IdentityChange{OldPN: alice, NewPN: bob, OldLID: aliceLID, NewLID: aliceLID})
	save(t, s, says(bob, bob, "A2", 2, "of Alice"), says(bobLID, bobLID, "B2", 2, "of Bob"))
	ofAlice(t, s, bob, aliceLID, []string{"A1", "A2"}, alice)
	sameList(t, "Bob's", ids(historyOf(t, s, bobLID)), []string{"B1", "B2"})
	save(t, s, bridge.Identity{PN: bobNew, LID: bobLID})
	sameList(t, "Bob's by his new number", ids(historyOf(t, s, bobNew)), []string{"B1", "B2"})
	checkCounts(t, s)
}

// TestIdentityChange_DoesNotMixUnknownHistories: the new number has messages, and nothing
// says by whom.
func TestIdentityChange_DoesNotMixUnknownHistories(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "of Alice"), says(aliceNew, aliceNew, "X1", 1, "of somebody"))
	save(t, s, bridge.IdentityChange{OldPN: alice, NewPN: aliceNew, OldLID: aliceLID, NewLID: aliceLID})
	sameList(t, "old number", ids(historyOf(t, s, alice)), []string{"A1"})
	sameList(t, "new number", ids(historyOf(t, s, aliceLID)), []string{"X1"})
	// an entry of the address book is no history
	save(t, s, bridge.Contact{JID: bob, Name: ptr("Alice's new number")})
	save(t, s, bridge.IdentityChange{OldPN: alice, NewPN: bob})
	sameList(t, "of the address book", ids(historyOf(t, s, bob)), []string{"A1"})
	checkCounts(t, s)
}

// TestIdentityChange_TheOldNumberIsGivenToSomebodyElse, who is another person from then
// on.
func TestIdentityChange_TheOldNumberIsGivenToSomebodyElse(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/bridged.db"
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "of Alice"))
	save(t, s, bridge.IdentityChange{OldPN: alice, NewPN: aliceNew})
	save(t, s, bridge.Identity{PN: alice, LID: bobLID}, says(alice, alice, "B1", 2, "of Bob"))
	ofAlice(t, s, aliceNew, aliceLID, []string{"A1"})
	sameList(t, "Bob's", ids(historyOf(t, s, bobLID)), []string{"B1"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	ofAlice(t, s, aliceNew, aliceLID, []string{"A1"})
	sameList(t, "Bob's", ids(historyOf(t, s, alice)), []string{"B1"})
}

func TestIdentityChange_BackToTheOldNumber(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "hi"))
	save(t, s, bridge.IdentityChange{OldPN: alice, NewPN: aliceNew}, bridge.IdentityChange{OldPN: aliceNew, NewPN: alice})
	ofAlice(t, s, alice, aliceLID, []string{"A1"}, aliceNew)
}

func TestIdentityChange_ANewLIDKeepsTheChat(t *testing.T) {
	t.Parallel()
	change := bridge.IdentityChange{OldLID: aliceLID, NewLID: aliceNewLID}
	for name, known := range map[string][]bridge.Fact{
		"with a number":               {bridge.Identity{PN: alice, LID: aliceLID}},
		"without a number":            {},
		"after the first message":     {bridge.Identity{PN: alice, LID: aliceLID}, says(aliceNewLID, aliceNewLID, "A2", 2, "early")},
		"both known by the LID alone": {says(aliceNewLID, aliceNewLID, "A2", 2, "early")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, append([]bridge.Fact{owner(), says(aliceLID, aliceLID, "A1", 1, "before")}, known...)...)
			save(t, s, change, says(aliceNewLID, aliceNewLID, "A2", 2, "early"))
			want := aliceNewLID
			if s.Canonical(alice) != s.Canonical(aliceNewLID) {
				ofAlice(t, s, want, aliceNewLID, []string{"A1", "A2"}, aliceLID)
				return
			}
			ofAlice(t, s, alice, aliceNewLID, []string{"A1", "A2"}, aliceLID)
		})
	}
}

// TestIdentityChange_OfALIDThatIsAnotherNumbers changes nothing.
func TestIdentityChange_OfALIDThatIsAnotherNumbers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Identity{PN: bob, LID: bobLID}, says(alice, alice, "A1", 1, "hi"), says(bob, bob, "B1", 1, "ho"))
	save(t, s, bridge.IdentityChange{OldLID: aliceLID, NewLID: bobLID})
	sameList(t, "Alice's", ids(historyOf(t, s, aliceLID)), []string{"A1"})
	sameList(t, "Bob's", ids(historyOf(t, s, bobLID)), []string{"B1"})
}

// TestIdentityChange_OfAMember: the place in a group follows, with its rights, also when
// nothing else says that the two are one person.
func TestIdentityChange_OfAMember(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice, LID: aliceLID, IsAdmin: true}, {JID: bob}}})
	save(t, s, bridge.GroupChange{JID: club, Moved: []bridge.MovedMember{{From: alice, To: bridge.Participant{JID: aliceNew, LID: aliceNewLID}}}, Timestamp: at(2)})
	g := group(t, s, club)
	if len(g.Participants) != 2 || g.Participants[0].JID != aliceNew || !g.Participants[0].IsAdmin {
		t.Errorf("members: %+v", g.Participants)
	}
	checkCounts(t, s)
}

// TestIdentityChange_SurvivesContradictions saves arbitrary changes and mappings: no
// message is lost, and a JID leads to the same person before and after a restart.
func TestIdentityChange_SurvivesContradictions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		c := &crowd{r: rand.New(rand.NewPCG(seed, 11))}
		maybe := func(jid bridge.JID) bridge.JID {
			if c.r.IntN(3) == 0 {
				return ""
			}
			return jid
		}
		path := t.TempDir() + "/bridged.db"
		s := openStore(t, path)
		save(t, s, owner(), bridge.Group{JID: club, Name: "Club"})
		for range 120 {
			save(t, s, c.fact())
			if c.r.IntN(4) == 0 {
				save(t, s, bridge.IdentityChange{
					OldPN: maybe(crowdPN(c.r.IntN(crowdSize))), OldLID: maybe(crowdLID(c.r.IntN(crowdSize))),
					NewPN: maybe(crowdPN(c.r.IntN(crowdSize))), NewLID: maybe(crowdLID(c.r.IntN(crowdSize))),
				})
			}
			if c.r.IntN(5) == 0 {
				save(t, s, bridge.Identity{PN: crowdPN(c.r.IntN(crowdSize)), LID: crowdLID(c.r.IntN(crowdSize))})
			}
		}
		checkCounts(t, s)
		who := func(s *Store) (canonical []string) {
			for i := range crowdSize {
				for _, jid := range []bridge.JID{crowdPN(i), crowdLID(i)} {
					if got := s.Canonical(s.Canonical(jid)); got != s.Canonical(jid) {
						t.Errorf("seed %d: %s means %s, which means %s", seed, jid, s.Canonical(jid), got)
					}
					canonical = append(canonical, fmt.Sprint(jid, " is ", s.Canonical(jid)))
				}
			}
			return canonical
		}
		stored := make(map[string]bool)
		for _, chat := range chats(t, s, bridge.ChatQuery{Limit: 500}) {
			for _, m := range historyOf(t, s, chat.JID) {
				stored[m.ID] = true
			}
		}
		if len(stored) != len(c.said) {
			t.Errorf("seed %d: %d messages of %d", seed, len(stored), len(c.said))
		}
		before, people := pretty(t, dump(t, s)), who(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, path)
		if diff := cmp.Diff(people, who(s)); diff != "" {
			t.Errorf("seed %d: after reopening (-before +after)\n%s", seed, diff)
		}
		if diff := cmp.Diff(before, pretty(t, dump(t, s))); diff != "" {
			t.Errorf("seed %d: after reopening (-before +after)\n%s", seed, diff)
		}
	}
}
