package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// TestPending_StrangersFillNothing and drive out nobody else's changes.
func TestPending_StrangersFillNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Deletion{Chat: club, Target: "B1", By: bob, Timestamp: at(1)},
		bridge.ReactionChange{Chat: club, Target: "B1", Sender: alice, Emoji: "👍", Timestamp: at(1)},
		bridge.Deletion{Chat: club, Target: "C1", By: carol, Timestamp: at(1)})
	var flood []bridge.Fact
	for i := range maxPendingOfSender + 50 {
		flood = append(flood, bridge.ReactionChange{Chat: club, Target: fmt.Sprintf("R%d", i), Sender: carol, Emoji: "👍", Timestamp: at(2)})
	}
	save(t, s, flood...)
	if n := pendingCount(t, s); n != maxPendingOfSender+2 {
		t.Errorf("%d changes wait", n)
	}
	for i := range 6 {
		edit := rewritten(club, carol, fmt.Sprintf("E%d", i), 3, "text")
		edit.New.Raw = []byte(strings.Repeat("x", maxPendingSizeOfSender/3))
		save(t, s, edit)
	}
	huge := rewritten(club, carol, "E9", 3, "text")
	huge.New.Raw = make([]byte, maxPendingSize+1)
	save(t, s, huge)
	var size int
	err := s.Read(t.Context(), func(r *read.Snapshot) {
		r.Find("SELECT sum(size) FROM pending_changes WHERE sender = ?", []any{string(carol)}, &size)
	})
	if err != nil || size > maxPendingSizeOfSender || size < maxPendingSizeOfSender/3 {
		t.Errorf("a stranger's changes take %d bytes, %v", size, err)
	}
	save(t, s, says(club, bob, "B1", 1, "text"), says(club, carol, "C1", 2, "text"))
	for _, id := range []string{"B1", "C1"} {
		if m := message(t, s, club, id); m.DeletedAt == nil {
			t.Errorf("a deletion was driven out: %+v", m)
		}
	}
}

// TestPending_ManyStrangersFillNothing either.
func TestPending_ManyStrangersFillNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner())
	const before = maxPending - pendingCheck
	if err := s.write(t.Context(), func(w *writeTx) {
		w.Run(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)
			INSERT INTO pending_changes (chat, target, kind, sender, stanza, at, size, fact)
			SELECT ?, 'R' || i, 3, '49170' || i / 500 || '@s.whatsapp.net', '', ?, 100, '{}' FROM n`, before, club, w.at)
	}); err != nil {
		t.Fatal(err)
	}
	var flood []bridge.Fact
	for i := range 3 * pendingCheck {
		flood = append(flood, bridge.ReactionChange{
			Chat: club, Target: "R1", Emoji: "👍", Timestamp: at(2),
			Sender: bridge.PhoneJID(fmt.Sprintf("49171%06d", i)),
		})
	}
	save(t, s, flood...)
	if n := pendingCount(t, s); n > maxPending+pendingCheck || n < maxPending-pendingCheck {
		t.Errorf("%d changes wait", n)
	}
}

// TestPending_IsForgottenAfterAWhile: what has not come by then will not come.
func TestPending_IsForgottenAfterAWhile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	s := newStore(t)
	at := func(age time.Duration) {
		save(t, s, bridge.ReactionChange{Chat: club, Target: fmt.Sprint("R", age), Sender: alice, Emoji: "👍", Timestamp: bridge.At(now)})
		if err := s.write(t.Context(), func(w *writeTx) {
			w.Run("UPDATE pending_changes SET at = ? WHERE target = ?", s.o.Clock.Now().Add(-age).UnixMilli(), fmt.Sprint("R", age))
		}); err != nil {
			t.Fatal(err)
		}
	}
	at(time.Hour)
	at(pendingLife - time.Hour)
	at(pendingLife + time.Hour)
	if n, err := s.ForgetPending(t.Context()); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := s.Retain(t.Context(), s.o.Clock.Now().Add(-24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := pendingCount(t, s); n != 1 {
		t.Errorf("%d are left", n)
	}
}
