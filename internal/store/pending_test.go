package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/longtest"
	"bridged/internal/store/read"
)

func poll(chat, sender bridge.JID, id string, seconds int) bridge.Message {
	m := says(chat, sender, id, seconds, "Lunch?")
	m.MessageType = "pollCreationMessage"
	m.Poll = &bridge.PollTally{Name: "Lunch?", Options: []bridge.PollOption{{Name: "yes"}, {Name: "no"}}}
	return m
}

func rewritten(chat, editor bridge.JID, id string, seconds int, text string) bridge.Edit {
	return bridge.Edit{Chat: chat, Target: id, Editor: editor, Timestamp: at(seconds), New: says(chat, editor, id, seconds, text)}
}

// pendingCount returns how many changes wait.
func pendingCount(t *testing.T, s *Store) (count int) {
	t.Helper()
	err := s.Read(t.Context(), func(r *read.Snapshot) {
		r.Find("SELECT count(*) FROM pending_changes", nil, &count)
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// TestPending_IsMadeWhenTheMessageComes as if it had come after it, also when the
// program was started again in between.
func TestPending_IsMadeWhenTheMessageComes(t *testing.T) {
	t.Parallel()
	message := extensiblePoll(club, bob, "B1", 1)
	message.Event, message.Expiration = &bridge.CalendarEvent{Name: "Lunch"}, 3600
	for name, changes := range map[string][]bridge.Fact{
		"a reaction":                 {bridge.ReactionChange{Chat: club, Target: "B1", Sender: carol, Emoji: "👍", Timestamp: at(2)}},
		"reactions, the later first": {bridge.ReactionChange{Chat: club, Target: "B1", Sender: carol, Timestamp: at(3)}, bridge.ReactionChange{Chat: club, Target: "B1", Sender: carol, Emoji: "👍", Timestamp: at(2)}},
		"a vote":                     {bridge.PollVote{Chat: club, Target: "B1", Voter: aliceLID, Hashes: [][]byte{sha("yes"), sha("no")}, Timestamp: at(2)}},
		"an answer to the event":     {bridge.EventResponse{Chat: club, Target: "B1", Sender: carol, Answer: bridge.EventGoing, Guests: 2, Timestamp: at(2)}},
		"answers, the later first":   {bridge.EventResponse{Chat: club, Target: "B1", Sender: carol, Answer: bridge.EventMaybe, Timestamp: at(3)}, bridge.EventResponse{Chat: club, Target: "B1", Sender: carol, Answer: bridge.EventGoing, Timestamp: at(2)}},
		"options":                    {option(club, carol, "B1", "maybe", 3), option(club, carol, "B1", "never", 2), option(club, aliceLID, "B1", "never", 4)},
		"a pin":                      {pin(club, carol, "B1", 2, inHours(24))},
		"a pin and an earlier unpin": {pin(club, carol, "B1", 3, inHours(24)), pin(club, alice, "B1", 2, bridge.Time{})},
		"a keep":                     {keep(club, carol, "B1", 2, true)},
		"a keep, and the author's":   {keep(club, carol, "B1", 3, true), keep(club, bob, "B1", 2, false)},
		"an edit":                    {rewritten(club, bob, "B1", 2, "edited")},
		"edits, the later first":     {rewritten(club, bob, "B1", 3, "later"), rewritten(club, bob, "B1", 2, "edited")},
		"an edit by somebody else":   {rewritten(club, carol, "B1", 2, "forged")},
		"a deletion":                 {bridge.Deletion{Chat: club, Target: "B1", By: bobLID, Timestamp: at(2)}},
		"a deletion by an admin":     {bridge.Deletion{Chat: club, Target: "B1", By: alice, Timestamp: at(2)}},
		"a deletion by a member":     {bridge.Deletion{Chat: club, Target: "B1", By: carol, Timestamp: at(2)}},
		"a deletion by a stranger":   {bridge.Deletion{Chat: club, Target: "B1", By: "4917099@s.whatsapp.net", Timestamp: at(2)}},
		"all of them": {
			bridge.ReactionChange{Chat: club, Target: "B1", Sender: carol, Emoji: "👍", Timestamp: at(2)},
			rewritten(club, bob, "B1", 3, "edited"),
			bridge.PollVote{Chat: club, Target: "B1", Voter: alice, Hashes: [][]byte{sha("yes")}, Timestamp: at(4)},
			bridge.Deletion{Chat: club, Target: "B1", By: bob, Timestamp: at(5)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			group := []bridge.Fact{
				owner(),
				bridge.Identity{PN: alice, LID: aliceLID},
				bridge.Identity{PN: bob, LID: bobLID},
				bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice, IsAdmin: true}, {JID: bob}, {JID: carol}, {JID: me}}},
			}
			after, path := newStore(t), empty.NewFile(t)
			before := openStore(t, path)
			save(t, after, append(group, message)...)
			save(t, before, group...)
			for _, change := range changes {
				save(t, after, change)
				save(t, before, change)
			}
			if list := historyOf(t, before, club); len(list) != 0 {
				t.Errorf("shown before the message: %+v", list)
			}
			if err := before.Close(); err != nil {
				t.Fatal(err)
			}
			before = openStore(t, path)
			save(t, before, message)
			save(t, before, message) // told again
			if diff := cmp.Diff(withoutPast(historyOf(t, after, club)), withoutPast(historyOf(t, before, club))); diff != "" {
				t.Errorf("-after +before:\n%s", diff)
			}
			if n := pendingCount(t, before); n != 0 {
				t.Errorf("%d changes still wait", n)
			}
			checkCounts(t, before)
		})
	}
}

// withoutPast leaves out what depends on the order for messages that are
// deleted: an edit that never applied, and which of two deletions came first.
func withoutPast(list []bridge.Message) []bridge.Message {
	for i := range list {
		if list[i].DeletedAt != nil {
			list[i].EditedAt, list[i].MessageType, list[i].DeletedAt = nil, "", ptr(at(0))
		}
	}
	return list
}

// TestPending_OrderChangesNothing saves the same facts in two stores, in one of
// which changes come before their messages and people are known late.
func TestPending_OrderChangesNothing(t *testing.T) {
	t.Parallel()
	for seed := range longtest.Else[uint64](2, 6) {
		c := &crowd{r: rand.New(rand.NewPCG(seed, 11))}
		var facts []bridge.Fact
		for len(facts) < 120 {
			f := c.fact()
			switch f.(type) {
			case bridge.Receipt, bridge.GroupChange: // the status of own messages and memberships are never pending
			default:
				facts = append(facts, f)
			}
		}
		shuffled := make([]bridge.Fact, 0, len(facts)+crowdSize)
		for _, f := range facts {
			place := len(shuffled)
			if _, ok := f.(bridge.Message); !ok {
				place = c.r.IntN(place + 1)
			}
			shuffled = append(shuffled[:place], append([]bridge.Fact{f}, shuffled[place:]...)...)
		}
		straight, mixed := newStore(t), newStore(t)
		for _, s := range []*Store{straight, mixed} {
			save(t, s, owner(), bridge.Group{JID: club, Name: "Club"})
		}
		for i := range crowdSize {
			save(t, straight, bridge.Identity{PN: crowdPN(i), LID: crowdLID(i)})
			place := c.r.IntN(len(shuffled) + 1)
			shuffled = append(shuffled[:place], append([]bridge.Fact{bridge.Identity{PN: crowdPN(i), LID: crowdLID(i)}}, shuffled[place:]...)...)
		}
		for _, f := range facts {
			save(t, straight, f)
		}
		for _, f := range shuffled {
			save(t, mixed, f)
		}
		checkCounts(t, mixed)
		if diff := cmp.Diff(pretty(t, dumpWithoutPast(t, straight)), pretty(t, dumpWithoutPast(t, mixed))); diff != "" {
			t.Fatalf("seed %d (-straight +mixed):\n%s", seed, diff)
		}
	}
}

func dumpWithoutPast(t *testing.T, s *Store) map[string]any {
	t.Helper()
	all := dump(t, s)
	for what, value := range all {
		if list, are := value.([]bridge.Message); are {
			all[what] = withoutPast(list)
		}
	}
	return all
}

// TestPending_ADeletedTextIsNeverReadable, neither that of the message nor that of
// an edit which came before it.
func TestPending_ADeletedTextIsNeverReadable(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m, words := secretMessage("A1", 1)
	edit := rewritten(alice, alice, "A1", 2, "edit-of-A1 ")
	edit.New.Raw = []byte("protobuf-of-the-edit")
	words = append(words, "edit-of-A1", "protobuf-of-the-edit")
	save(t, s, edit)
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(3)})
	save(t, s, edit, rewritten(alice, alice, "A1", 4, "edit-of-A1 again")) // told again, and later
	if n := pendingCount(t, s); n != 1 {
		t.Errorf("%d changes wait, want the deletion alone", n)
	}
	erased(t, s)
	gone(t, s, "edit-of-A1", "protobuf-of-the-edit")
	before, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	drain(s.TextErased())
	save(t, s, m)
	if !drain(s.TextErased()) {
		t.Error("nobody is told that a text was deleted")
	}
	settle(t, s)
	page, err := s.Events(t.Context(), read.EventQuery{After: before})
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%+v", page.Events) + pretty(t, historyOf(t, s, alice))
	for _, word := range words {
		if strings.Contains(shown, word) {
			t.Errorf("%q is shown: %s", word, shown)
		}
	}
	sameList(t, "search", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "ꙮ"})), []string{})
	erased(t, s)
	gone(t, s, append(words, "ꙮ")...)
	if files, err := s.ErasedFiles(t.Context(), 10); err != nil || len(files) != 1 {
		t.Errorf("files to remove: %v, %v", files, err)
	}
	checkSound(t, s)
}

// drain takes the token out of a channel, and reports whether there was one.
func drain(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestPending_AnAdminsDeletionWaitsForTheMembers and is judged by them.
func TestPending_AnAdminsDeletionWaitsForTheMembers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(club, bob, "B1", 1, "by the admin"), says(club, bob, "B2", 2, "by a member"), says(club, bob, "B3", 3, "not deleted"),
		bridge.Deletion{Chat: club, Target: "B1", By: aliceLID, Timestamp: at(4)}, bridge.Deletion{Chat: club, Target: "B2", By: carol, Timestamp: at(4)},
		bridge.Deletion{Chat: club, Target: "B4", By: alice, Timestamp: at(4)})
	sameList(t, "before the members are known", ids(shownIn(t, s, club)), []string{"B1", "B2", "B3"})
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID}, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{
		{JID: alice, IsAdmin: true}, {JID: bob}, {JID: carol}, {JID: me},
	}})
	save(t, s, says(club, bob, "B4", 5, "by the admin, before it came"))
	sameList(t, "afterwards", ids(shownIn(t, s, club)), []string{"B2", "B3"})
	if n := pendingCount(t, s); n != 0 {
		t.Errorf("%d deletions still wait", n)
	}
}

// shownIn is what is not deleted of a chat.
func shownIn(t *testing.T, s *Store, chat bridge.JID) (list []bridge.Message) {
	t.Helper()
	for _, m := range historyOf(t, s, chat) {
		if m.DeletedAt == nil {
			list = append(list, m)
		}
	}
	return list
}

// TestPending_OutlivesThatANumberIsLearned for the LID that was postponed under.
func TestPending_OutlivesThatANumberIsLearned(t *testing.T) {
	t.Parallel()
	identity := bridge.Identity{PN: alice, LID: aliceLID}
	pending := []bridge.Fact{
		bridge.ReactionChange{Chat: aliceLID, Target: "A1", Sender: aliceLID, Emoji: "👍", Timestamp: at(3)},
		rewritten(aliceLID, aliceLID, "A1", 3, "edited"),
		bridge.Deletion{Chat: aliceLID, Target: "A2", By: aliceLID, Timestamp: at(3)},
	}
	said := []bridge.Fact{says(alice, alice, "A1", 1, "text"), says(alice, alice, "A2", 2, "deleted")}
	for name, order := range map[string][]bridge.Fact{
		"then the message":            append(append(pending[:3:3], identity), said...),
		"after the message":           append(append(said[:2:2], pending...), identity),
		"of a person with both forms": append(append([]bridge.Fact{says(aliceLID, aliceLID, "A0", 0, "hello"), says(alice, alice, "A9", 9, "later")}, append(pending[:3:3], identity)...), said...),
		"by an unknown number":        append(append([]bridge.Fact{says(aliceLID, aliceLID, "A0", 0, "hello")}, append(pending[:3:3], identity)...), said...),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, owner())
			for _, fact := range order {
				save(t, s, fact)
			}
			if m := message(t, s, alice, "A1"); m.Content != "edited" || len(m.Reactions) != 1 || m.Reactions[0].SenderJID != alice {
				t.Errorf("message: %+v", m)
			}
			if m := message(t, s, alice, "A2"); m.DeletedAt == nil || m.Content != "" {
				t.Errorf("deleted: %+v", m)
			}
			if n := pendingCount(t, s); n != 0 {
				t.Errorf("%d changes still wait", n)
			}
			checkCounts(t, s)
		})
	}
}

// TestPending_TextTakenBackUnderAnotherNameIsGone: another id of the message, or a
// number that was learned for the LID of its sender.
func TestPending_TextTakenBackUnderAnotherNameIsGone(t *testing.T) {
	t.Parallel()
	const secret = "ꙮ the-password"
	identity := bridge.Identity{PN: alice, LID: aliceLID}
	takenBack := func(chat, by bridge.JID, id string) bridge.Deletion {
		return bridge.Deletion{Chat: chat, Target: id, By: by, Timestamp: at(9)}
	}
	byNumber := says(alice, alice, "A9", 1, "a chat by number")
	for name, test := range map[string]struct {
		facts []bridge.Fact
		wait  int // changes that wait in the end
	}{
		"in a group, of a LID alone":    {[]bridge.Fact{rewritten(club, aliceLID, "A1", 2, secret), identity, takenBack(club, alice, "A1")}, 1},
		"in a group, of both forms":     {[]bridge.Fact{rewritten(club, aliceLID, "A1", 2, secret), byNumber, identity, takenBack(club, alice, "A1")}, 1},
		"in private, of both forms":     {[]bridge.Fact{rewritten(aliceLID, aliceLID, "A1", 2, secret), byNumber, identity, takenBack(alice, alice, "A1")}, 1},
		"before it is learned":          {[]bridge.Fact{byNumber, takenBack(club, alice, "A1"), rewritten(club, aliceLID, "A1", 2, secret), identity}, 1},
		"by a later edit":               {[]bridge.Fact{rewritten(alice, alice, "A1", 3, "harmless"), rewritten(aliceLID, aliceLID, "A1", 2, secret), identity}, 1},
		"by a later edit under the LID": {[]bridge.Fact{rewritten(alice, alice, "A1", 2, secret), rewritten(aliceLID, aliceLID, "A1", 3, "harmless"), identity}, 1},
		"by an own later edit":          {[]bridge.Fact{rewritten(alice, me, "A1", 3, "harmless"), rewritten(aliceLID, me, "A1", 2, secret), identity}, 1},
		"by another id": {[]bridge.Fact{
			placeholder(alice, alice, "SD", 1), rewritten(alice, alice, "SD", 2, secret),
			upload(alice, alice, "SD", "HD", 3, "look"), takenBack(alice, alice, "HD"),
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storeOfEdits(t)
			save(t, s, owner())
			for i, fact := range test.facts {
				if i == len(test.facts)-1 {
					erased(t, s)
					drain(s.TextErased())
				}
				save(t, s, fact)
			}
			if n := pendingCount(t, s); n != test.wait {
				t.Errorf("%d changes wait, want %d", n, test.wait)
			}
			if !drain(s.TextErased()) {
				t.Error("nobody is told that a text was deleted")
			}
			erased(t, s)
			gone(t, s, "the-password")
		})
	}
}
