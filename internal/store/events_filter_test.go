package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
)

// busyLog fills a store with events of every type, of people known by number, by
// LID, and by both, of groups and of the account.
func busyLog(t *testing.T, s *Store) {
	t.Helper()
	save(t, s, owner(), bridge.Status{Status: bridge.StateOpen, HasSession: true})
	save(t, s, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice}}})
	for i, chat := range []bridge.JID{alice, aliceLID, bob, club, carol, alice, aliceLID, club} {
		theirs, own := fmt.Sprintf("T%d", i), fmt.Sprintf("O%d", i)
		sender := chat
		if chat == club {
			sender = bob
		}
		save(t, s, says(chat, sender, theirs, i, "x"), iSay(chat, own, i, "y"))
		none := fmt.Sprintf("N%d", i)
		save(t, s, placeholder(chat, sender, none, i))
		save(t, s, bridge.NoMessage{Chat: chat, ID: none, Sender: sender})
		save(t, s, bridge.Receipt{Chat: chat, IDs: []string{own}, From: chat, Status: bridge.DeliveryRead})
		save(t, s, bridge.ReactionChange{Chat: chat, Target: theirs, Sender: me, Emoji: "👍", Timestamp: at(i)})
	}
	save(t, s, bridge.Status{Status: bridge.StateConnecting, HasSession: true})
}

// wanted reports whether a filter wants an event, judged by what callers are
// shown of it.
func wanted(f bridge.EventFilter, only []bridge.JID, e bridge.Event, canonical func(bridge.JID) bridge.JID) bool {
	isOf := func(chats []bridge.JID) bool {
		return slices.ContainsFunc(chats, func(jid bridge.JID) bool { return canonical(jid) == e.ChatJID })
	}
	switch {
	case !f.Wants(e),
		only != nil && !isOf(only),
		len(f.Chats) > 0 && !isOf(f.Chats),
		isOf(f.ExcludeChats):
		return false
	}
	return true
}

// Whatever is asked for, a page has what a reader who sees everything would
// choose from it: before a person's two chats have become one, and after.
func TestEvents_FiltersAreExact(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	busyLog(t, s)
	random := rand.New(rand.NewPCG(1, 2))
	compareFilters(t, s, random, "two chats")
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	compareFilters(t, s, random, "one chat")
}

func compareFilters(t *testing.T, s *Store, random *rand.Rand, when string) {
	t.Helper()
	all := events(t, s, read.EventQuery{Limit: 1000}).Events
	chats := []bridge.JID{alice, aliceLID, bob, carol, club, "15550000001@s.whatsapp.net"}
	found := 0
	for range 300 {
		var q read.EventQuery
		q.Limit = 1 + random.IntN(100)
		q.Types = someOf(random, bridge.EventTypes())
		q.Chats, q.ExcludeChats = someOf(random, chats), someOf(random, chats)
		q.ChatType = []bridge.ChatType{"", bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual}[random.IntN(4)]
		q.FromMe = []*bool{nil, ptr(true), ptr(false)}[random.IntN(3)]
		if random.IntN(3) == 0 {
			q.Only = append([]bridge.JID{bob}, someOf(random, chats)...)
		}
		want := []int64{}
		for _, e := range all {
			if wanted(q.EventFilter, q.Only, e, s.Canonical) {
				want = append(want, e.ID)
			}
		}
		sameList(t, fmt.Sprintf("%s, %+v, fromMe %v", when, q, q.FromMe), numbersOf(t, s, q), want)
		found += len(want)
	}
	if found == 0 {
		t.Error("no filter has found anything")
	}
}

// numbersOf reads all pages.
func numbersOf(t *testing.T, s *Store, q read.EventQuery) []int64 {
	t.Helper()
	numbers := []int64{}
	for {
		page := events(t, s, q)
		for _, e := range page.Events {
			numbers = append(numbers, e.ID)
		}
		if q.After = page.Next; !page.More {
			return numbers
		}
	}
}

// someOf returns no element, most of the time, or some.
func someOf[T any](random *rand.Rand, list []T) (some []T) {
	for _, one := range list {
		if random.IntN(8) < 2 {
			some = append(some, one)
		}
	}
	if random.IntN(2) == 0 {
		return nil
	}
	return some
}

// What is not asked for is passed over where it lies: pages are read by number,
// and a filter on one chat in a busy log takes a page a window, with nothing in
// it but what was asked for.
func TestEvents_PassOverWhatIsNotAskedFor(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(bob, bob, "B1", 1, "x"))
	const crowd = 2*read.EventWindow + read.EventWindow/2
	err := s.write(t.Context(), func(t *writeTx) {
		t.numbers.event += crowd
		t.Run(`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO events (id, type, message, chat, at) SELECT (SELECT max(id) FROM events) + i, ?2, 1, NULL, 0 FROM n`,
			crowd, columns.EventNumber(bridge.EventMessageUpdated))
	})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, says(alice, alice, "A1", 1, "x"))
	pages := 0
	for q := (read.EventQuery{EventFilter: bridge.EventFilter{Chats: []bridge.JID{alice}}, Limit: 10}); ; pages++ {
		page := events(t, s, q)
		if !page.More {
			if len(page.Events) != 2 || page.Events[1].ChatJID != alice {
				t.Errorf("the last page: %+v", page)
			}
			break
		}
		if q.After = page.Next; len(page.Events) != 0 {
			t.Errorf("of others: %+v", page.Events)
		}
	}
	if pages != 2 {
		t.Errorf("%d pages before the last one, want 2", pages)
	}
}

func TestPlans_OfTheLogAreCheap(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for bits := range 1 << 6 {
		var q read.EventQuery
		for i, set := range []func(){
			func() { q.Types = []bridge.EventType{bridge.EventMessageCreated} },
			func() { q.Chats = []bridge.JID{alice, bob} },
			func() { q.ExcludeChats = []bridge.JID{carol} },
			func() { q.ChatType = bridge.ChatsGroup },
			func() { q.FromMe = ptr(true) },
			func() { q.Only = []bridge.JID{alice} },
		} {
			if bits>>i&1 == 1 {
				set()
			}
		}
		var query string
		var args []any
		err := s.Read(t.Context(), func(r *read.Snapshot) {
			query, args = r.EntriesQuery(q, 1, 100)
		})
		if err != nil {
			t.Fatal(err)
		}
		steps := strings.Split(plan(t, s, query, args), "\n")
		if steps[0] != "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" {
			t.Errorf("%s\nbegins with %s", query, steps[0])
		}
		for _, step := range steps {
			if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN ") && !strings.HasPrefix(step, "SCAN json_each") {
				t.Errorf("%s\nis planned as\n%s", query, strings.Join(steps, "\n"))
			}
		}
	}
	if p := plan(t, s, read.ChatSetQuery, []any{`["x"]`}); strings.Count(p, "SCAN ") != 3 || strings.Count(p, "SCAN named") != 3 {
		t.Errorf("names of chats are looked up with\n%s", p)
	}
}
