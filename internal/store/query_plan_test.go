package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// plan is SQLite's plan for a query, one step a line.
func plan(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	var steps []string
	err := s.read(context.Background(), func(r *readTx) error {
		return r.each(context.Background(), "EXPLAIN QUERY PLAN "+query, args, func(rows *resultSet) error {
			var id, parent, unused int
			var detail string
			err := rows.Scan(&id, &parent, &unused, &detail)
			steps = append(steps, detail)
			return err
		})
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
	for _, step := range strings.Split(p, "\n") {
		walksIndex := strings.HasPrefix(step, "SCAN c USING INDEX chats_by_") || step == "SCAN p USING INDEX people_by_name"
		if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN ") && !walksIndex {
			t.Errorf("%s\nis planned as\n%s", query, p)
			return
		}
	}
}

func TestPlans_OfTheChatsListAreCheap(t *testing.T) {
	s := newStore(t)
	for _, kind := range []bridge.ChatType{"", bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual} {
		for _, q := range []string{"", "x"} {
			for _, cursor := range []string{"", chatPosition{1, alice}.cursor()} {
				for _, offset := range []int{0, 100} {
					query, args, _, err := chatsQuery(bridge.ChatQuery{Type: kind, Q: q, Cursor: cursor, Offset: offset}, "")
					if err != nil {
						t.Fatal(err)
					}
					wantCheap(t, s, query, args)
				}
			}
		}
	}
}

func TestPlans_OfTheContactsListAreCheap(t *testing.T) {
	s := newStore(t)
	for _, q := range []string{"", "x", "+1 555"} {
		for _, cursor := range []string{"", contactPosition{false, "x", 1}.cursor(), contactPosition{true, "1", 1}.cursor()} {
			query, args, _, err := contactsQuery(bridge.ContactQuery{Q: q, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			wantCheap(t, s, query, args)
			p := plan(t, s, query, args)
			if cursor != "" && !strings.Contains(p, "SEARCH p USING INDEX people_by_name ((nameless,sort_key)>(?,?))") {
				t.Errorf("a later page with %q is planned as\n%s", q, p)
			}
		}
	}
	wantCheap(t, s, contactQuery, []any{string(alice)})
}

func TestPlans_OfHistoriesAreCheap(t *testing.T) {
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
			func() { q.Cursor = position{1, 1}.cursor() },
		} {
			if bits>>i&1 == 1 {
				set()
			}
		}
		err := s.read(context.Background(), func(r *readTx) error {
			h, err := r.newHistory(1, q)
			if err != nil {
				return err
			}
			query, args := h.query(messageColumns, 1, 1)
			t.Run(fmt.Sprintf("%06b", bits), func(t *testing.T) { wantCheap(t, s, query, args) })
			n++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n != 64 {
		t.Errorf("%d combinations", n)
	}
}

func TestPlans_OfSearchesLookMessagesUp(t *testing.T) {
	s := newStore(t)
	since, until := int64(1), int64(2)
	for bits := range 1 << 6 {
		w := &searchPlan{needle: "text", limit: 10, desc: bits&1 == 1}
		w.since, w.until = ends(nil, nil)
		if bits>>1&1 == 1 {
			w.since, _ = ends(&since, nil)
		}
		if bits>>2&1 == 1 {
			_, w.until = ends(nil, &until)
		}
		if bits>>3&1 == 1 {
			w.after = &position{1, 1}
		}
		if bits>>4&1 == 1 {
			w.chat = 1
		}
		if bits>>5&1 == 1 {
			w.sender = 1
		}
		if w.chat == 0 {
			w.sender, w.kind = 0, bridge.ChatsGroup
		}
		query, args := w.lookUpQuery(s.index, 0, 100)
		p := plan(t, s, query, args)
		// The full-text table is the only one that is walked.
		steps := strings.Split(p, "\n")
		if !strings.HasPrefix(steps[0], "SCAN g VIRTUAL TABLE") || strings.Contains(p, "TEMP B-TREE") ||
			strings.Count(p, "SCAN ") != 1 {
			t.Errorf("%06b is planned as\n%s", bits, p)
		}
		for many, index := range map[bool]string{false: "INTEGER PRIMARY KEY (rowid>?)", true: "INDEX messages_by_"} {
			query, args, err := w.scanQuery(1<<20, many && w.chat != 0)
			if err != nil {
				t.Fatal(err)
			}
			if w.chat == 0 {
				index = "INTEGER PRIMARY KEY (rowid>?)"
			}
			if p := plan(t, s, query, args); !strings.Contains(p, "SEARCH m USING "+index) || strings.Contains(p, "TEMP B-TREE") {
				t.Errorf("the tail of %06b is planned as\n%s", bits, p)
			}
		}
	}
}

func TestPlans_OfLookUpsAreCheap(t *testing.T) {
	s := newStore(t)
	for query, args := range map[string][]any{
		"SELECT id FROM blocks WHERE upto >= ? ORDER BY upto, id LIMIT 1": {1},
		lastDowntoQuery:   {1},
		indexedQuery:      nil,
		staleQuery:        {1 << 40, noLimit},
		packsOfBlockQuery: {1, 2},
		uptoQuery:         {1},
		downtoQuery:       {1},
		"SELECT max(timestamp) FROM messages WHERE chat = ?": {1},
		unfinishedQuery: {1},
		"UPDATE messages SET sender = ? WHERE chat = ? AND sender = ?":                       {1, 1, 1},
		"UPDATE chats SET name = '' WHERE person = ?":                                        {1},
		"UPDATE blocks SET upto = ?1 WHERE id > ?2 AND +upto < ?1":                           {1, 1},
		"UPDATE blocks SET downto = ?1 WHERE downto > ?1 AND +id < ?2":                       {1, 1},
		"SELECT seq, timestamp FROM messages WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?": {1, 2, 3},
		"DELETE FROM send_keys WHERE at <= ?":                                                {1},
	} {
		wantCheap(t, s, query, args)
	}
}

// The chats that have new messages are found in the index of the list, and
// their messages by time.
func TestPlans_OfCountsAreCheap(t *testing.T) {
	wantCheap(t, newStore(t), countQuery, []any{1, -1})
}
