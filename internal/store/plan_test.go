package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// plan is SQLite's plan for a query, one step a line.
func plan(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	var steps []string
	err := s.read(context.Background(), func(r *snapshot) error {
		return r.each(r.ctx, "EXPLAIN QUERY PLAN "+query, args, func(rows *sql.Rows) error {
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
// in order. The chats list is walked in order of its index until the page is
// full; messages are always looked up.
func wantCheap(t *testing.T, s *Store, query string, args []any) {
	t.Helper()
	p := plan(t, s, query, args)
	for _, step := range strings.Split(p, "\n") {
		walksIndex := strings.HasPrefix(step, "SCAN c USING INDEX chats_by_")
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
			for _, cursor := range []string{"", chatPlace{1, alice}.cursor()} {
				for _, offset := range []int{0, 100} {
					query, args, _, err := chatsQuery(bridge.ChatQuery{Type: kind, Q: q, Cursor: cursor, Offset: offset})
					if err != nil {
						t.Fatal(err)
					}
					wantCheap(t, s, query, args)
				}
			}
		}
	}
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
			func() { q.Cursor = place{1, 1}.cursor() },
		} {
			if bits>>i&1 == 1 {
				set()
			}
		}
		err := s.read(context.Background(), func(r *snapshot) error {
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
