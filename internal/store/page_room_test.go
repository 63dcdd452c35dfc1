package store

import (
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// smallPage ends a page before it takes as many bytes of JSON.
const smallPage = 300_000

// jsonOf returns how many bytes items take as JSON.
func jsonOf[T any](t *testing.T, items []T) (size int) {
	t.Helper()
	for _, item := range items {
		text, err := bridge.EncodeJSON(item)
		if err != nil {
			t.Fatal(err)
		}
		size += len(text)
	}
	return size
}

// pageEnds checks that a page takes no more bytes than it may, and returns its
// elements' ids.
func pageEnds[T any](t *testing.T, what string, items []T, id func(T) string) (ids []string) {
	t.Helper()
	if size := jsonOf(t, items); len(items) == 0 || len(items) > 1 && size > smallPage {
		t.Errorf("%s: a page of %d elements takes %d bytes", what, len(items), size)
	}
	for _, item := range items {
		ids = append(ids, id(item))
	}
	return ids
}

// longTexts are told in a chat: texts that grow sixfold as JSON, pictures with
// captions, and polls and messages whose votes and reactions are most of them.
func longTexts(t *testing.T, s *Store) (ids []string) {
	t.Helper()
	save(t, s, owner())
	texts := []string{strings.Repeat("long x ", 9_000), strings.Repeat("\x01", 30_000) + "x", strings.Repeat("😀", 20_000) + "x", "short x"}
	for n := range 24 {
		m := says(club, alice, fmt.Sprintf("M%02d", n), n, texts[n%len(texts)])
		if n%5 == 0 {
			m.MessageType, m.Media = "imageMessage", &bridge.Media{Type: bridge.MediaImage, Caption: m.Content}
		}
		ids = append(ids, m.ID)
		save(t, s, m)
	}
	for n := range 3 {
		poll := says(club, bob, fmt.Sprint("P", n), 30+n, "x")
		poll.MessageType, poll.Poll = "pollCreationMessage", &bridge.PollTally{Name: "x", Options: []bridge.PollOption{{Name: "yes"}, {Name: "no"}}}
		facts := []bridge.Fact{poll}
		for voter := range 3_000 {
			who := bridge.JID(fmt.Sprintf("4917%08d@s.whatsapp.net", voter))
			facts = append(facts, bridge.PollVote{Chat: club, Target: poll.ID, Voter: who, Hashes: [][]byte{sha("yes"), sha("no")}, Timestamp: at(40)})
		}
		save(t, s, facts...)
		ids = append(ids, poll.ID)
	}
	liked := says(club, bob, "R1", 50, "x")
	facts := []bridge.Fact{liked}
	for n := range 2_000 {
		who := bridge.JID(fmt.Sprintf("4917%08d@s.whatsapp.net", n))
		facts = append(facts, bridge.ReactionChange{Chat: club, Target: liked.ID, Sender: who, Emoji: "👍", Timestamp: at(60)})
	}
	save(t, s, facts...)
	return append(ids, liked.ID)
}

// TestPages_EndByBytes: long messages end a page before its limit, by cursor as by offset, and nothing is
// left out or shown twice.
func TestPages_EndByBytes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	want := longTexts(t, s)
	s.Tuning.Page = 100 << 20
	all := lines(events(t, s, read.EventQuery{Limit: 20_000}).Events)
	s.Tuning.Page = smallPage
	t.Run("a history", func(t *testing.T) { historyEndsByBytes(t, s, want) })
	t.Run("a search", func(t *testing.T) { searchEndsByBytes(t, s, want) })
	t.Run("the log", func(t *testing.T) { logEndsByBytes(t, s, all) })
}

func historyEndsByBytes(t *testing.T, s *Store, want []string) {
	message := func(m bridge.Message) string { return m.ID }
	for _, q := range []string{"", "x"} {
		for _, order := range []bridge.Order{bridge.OrderAsc, bridge.OrderDesc} {
			var byCursor, byOffset []string
			query := bridge.MessageQuery{Chat: club, Q: q, Order: order, Limit: 1000}
			for more := true; more; {
				page, err := s.Messages(t.Context(), query)
				if err != nil {
					t.Fatal(err)
				}
				byCursor = append(byCursor, pageEnds(t, "a history", page.Items, message)...)
				if more = page.NextCursor != nil; more {
					query.Cursor = *page.NextCursor
				}
			}
			query.Cursor = ""
			for more := true; more; query.Offset = len(byOffset) {
				page, err := s.Messages(t.Context(), query)
				if err != nil {
					t.Fatal(err)
				}
				byOffset, more = append(byOffset, pageEnds(t, "a history", page.Items, message)...), page.NextCursor != nil
			}
			inOrder := append([]string(nil), want...)
			if order == bridge.OrderDesc {
				for i, id := range want {
					inOrder[len(want)-1-i] = id
				}
			}
			sameList(t, fmt.Sprintf("%q %s by cursor", q, order), byCursor, inOrder)
			sameList(t, fmt.Sprintf("%q %s by offset", q, order), byOffset, inOrder)
		}
	}
}

func searchEndsByBytes(t *testing.T, s *Store, want []string) {
	var found []string
	query := bridge.SearchQuery{Q: "x", Limit: 500}
	for more := true; more; {
		page, err := s.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, pageEnds(t, "a search", page.Items, func(m bridge.Match) string { return m.MsgID })...)
		if more = page.NextCursor != nil; more {
			query.Cursor = *page.NextCursor
		}
	}
	for i, id := range found {
		if want[len(want)-1-i] != id {
			t.Fatalf("found %v, want %v from behind", found, want)
		}
	}
	if len(found) != len(want) {
		t.Errorf("found %d of %d", len(found), len(want))
	}
}

func logEndsByBytes(t *testing.T, s *Store, want []string) {
	var found []string
	query := read.EventQuery{Limit: 1000}
	for more := true; more; {
		page := events(t, s, query)
		pageEnds(t, "the log", page.Events, func(e bridge.Event) string { return fmt.Sprint(e.ID) })
		found = append(found, lines(page.Events)...)
		query.After, more = page.Next, page.More
	}
	sameList(t, "events", found, want)
}
