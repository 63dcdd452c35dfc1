package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/read"
)

// plan is SQLite's plan for a query, one step a line.
func plan(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	var steps []string
	err := s.Read(context.Background(), func(r *read.Snapshot) {
		for row := range r.Rows("EXPLAIN QUERY PLAN "+query, args...) {
			var id, parent, unused int
			var detail string
			row.Scan(&id, &parent, &unused, &detail)
			steps = append(steps, detail)
		}
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(steps, "\n")
}

// wantCheap refuses plans that read a whole table or sort what an index gives
// in order. The lists of chats and of contacts are walked in order of their
// index until the page is full; messages are always looked up.
func wantCheap(t *testing.T, s *Store, query string, args []any) {
	t.Helper()
	p := plan(t, s, query, args)
	for step := range strings.SplitSeq(p, "\n") {
		walksIndex := strings.HasPrefix(step, "SCAN c USING INDEX chats_by_") || step == "SCAN p USING INDEX people_by_name"
		if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN ") && !walksIndex {
			t.Errorf("%s\nis planned as\n%s", query, p)
			return
		}
	}
}

// wantCheapPage is [wantCheap] of the query of a page.
func wantCheapPage(t *testing.T, s *Store, of func(*read.Snapshot) (string, []any)) (query string, args []any) {
	t.Helper()
	if err := s.Read(t.Context(), func(r *read.Snapshot) { query, args = of(r) }); err != nil {
		t.Fatal(err)
	}
	wantCheap(t, s, query, args)
	return query, args
}

func TestPlans_OfTheChatsListAreCheap(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, kind := range []bridge.ChatType{"", bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual} {
		for _, q := range []string{"", "x"} {
			for _, cursor := range []string{"", sqlite.Cursor(read.ListChats, 1, alice)} {
				for _, of := range []bridge.ChatKind{bridge.KindGroup, bridge.KindIndividual, bridge.KindCommunity, bridge.KindSelf, bridge.KindImported} {
					wantCheapPage(t, s, func(r *read.Snapshot) (string, []any) {
						return r.ChatsQuery(bridge.ChatQuery{Type: kind, Kind: of, Q: q, Cursor: cursor})
					})
				}
				for _, offset := range []int{0, 100} {
					wantCheapPage(t, s, func(r *read.Snapshot) (string, []any) {
						return r.ChatsQuery(bridge.ChatQuery{Type: kind, Q: q, Cursor: cursor, Offset: offset})
					})
				}
			}
		}
	}
}

func TestPlans_OfTheContactsListAreCheap(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, q := range []string{"", "x", "+1 555"} {
		for _, cursor := range []string{"", sqlite.Cursor(read.ListContacts, false, "x", 1), sqlite.Cursor(read.ListContacts, true, "1", 1)} {
			query, args := wantCheapPage(t, s, func(r *read.Snapshot) (string, []any) {
				return r.ContactsQuery(bridge.ContactQuery{Q: q, Cursor: cursor})
			})
			p := plan(t, s, query, args)
			if cursor != "" && !strings.Contains(p, "SEARCH p USING INDEX people_by_name ((nameless,sort_key)>(?,?))") {
				t.Errorf("a later page with %q is planned as\n%s", q, p)
			}
		}
	}
	wantCheap(t, s, read.ContactQuery, []any{string(alice)})
}

func TestPlans_OfHistoriesAreCheap(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	n := 0
	for bits := range 1 << 6 {
		q := bridge.MessageQuery{Chat: alice, Order: bridge.OrderAsc, Limit: 10, Offset: bits}
		for i, set := range []func(){
			func() { q.Order = bridge.OrderDesc },
			func() { q.Since = ptr(at(1)) },
			func() { q.Until = ptr(at(2)) },
			func() { q.Sender = alice },
			func() { q.Q = "text" },
			func() { q.Cursor = sqlite.Cursor(read.ListMessages, 1, 1) },
		} {
			if bits>>i&1 == 1 {
				set()
			}
		}
		err := s.Read(context.Background(), func(r *read.Snapshot) {
			h := r.HistoryQuery(1, q)
			query, args := read.HistoryPage(r.Conn, h, 1)
			t.Run(fmt.Sprintf("%06b", bits), func(t *testing.T) { wantCheap(t, s, query, args) })
			n++
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n != 64 {
		t.Errorf("%d combinations", n)
	}
}

func TestPlans_OfLookUpsAreCheap(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for query, args := range map[string][]any{
		"SELECT max(timestamp) FROM messages WHERE chat = ?": {1},
		unfinishedQuery: {1},
		minuteQuery:     {1, 1, 2, 3, 4},
		underNameQuery:  {1, 1, 1},
		attributeQuery:  {1, 1, 1, 1, 1, 1, 1},
		"UPDATE messages SET sender = ? WHERE chat = ? AND sender = ?": {1, 1, 1},
		"UPDATE chats SET name = '' WHERE person = ?":                  {1},
		"DELETE FROM send_keys WHERE at <= ?":                          {1},
	} {
		wantCheap(t, s, query, args)
	}
}

// The chats that have new messages are found in the index of the list, and
// their messages by time.
func TestPlans_OfCountsAreCheap(t *testing.T) {
	t.Parallel()
	wantCheap(t, newStore(t), read.CountQuery, []any{1, -1})
}
