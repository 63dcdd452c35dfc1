package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bridged/internal/bridge"
)

func TestIndex_IsBuiltInTheBackground(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 40 {
		facts := []bridge.Fact{}
		for j := range 10 {
			facts = append(facts, says(alice, alice, fmt.Sprintf("A%d-%d", i, j), i, "some text"))
		}
		save(t, s, facts...)
	}
	awaitIndexed(t, s, 400-2*testBlock)
}

// awaitIndexed waits until the background has indexed so many messages: it
// works whenever a write ends.
func awaitIndexed(t *testing.T, s *Store, want int) {
	t.Helper()
	for t.Context().Err() == nil {
		if indexedMessages(t, s) >= want {
			return
		}
		bridge.Sleep(t.Context(), 20*time.Millisecond)
	}
}

// indexedMessages returns how many messages are in blocks that are indexed.
func indexedMessages(t *testing.T, s *Store) int {
	t.Helper()
	return countOf(t, s, "SELECT ifnull(max(id), -1) + 1 FROM blocks") * testBlock
}

func TestReindex_ReportsItsProgress(t *testing.T) {
	t.Parallel()
	s := longHistory(t, 500)
	settle(t, s)
	s.stop() // or the background would do some of the steps
	s.done.Wait()
	last, steps := 0, 0
	err := s.Reindex(context.Background(), func(done, total int) {
		if done < last || done > total || total != 1000 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
		steps++
	})
	if err != nil || last != 1000 || steps < 3 {
		t.Errorf("%d done in %d steps, %v", last, steps, err)
	}
}

func TestIndex_OfAnotherVersionIsMadeAnew(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/bridged.db"
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	facts := []bridge.Fact{}
	for i := range 300 {
		facts = append(facts, says(alice, alice, fmt.Sprintf("A%d", i), i, fmt.Sprintf("text %d", i)))
	}
	save(t, s, facts...)
	settle(t, s)
	if err := s.SetSetting(t.Context(), "store.search_index", "0"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	sameList(t, "search", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "text 77"})), []string{"A77"})
	awaitIndexed(t, s, 256)
	sameList(t, "search", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "text 77"})), []string{"A77"})
}

func TestIndex_ThatIsDamagedIsScannedAroundAndMadeAnew(t *testing.T) {
	t.Parallel()
	s := longHistory(t, 300)
	settle(t, s)
	err := s.write(context.Background(), func(tx *writeTx) {
		tx.Run("UPDATE grams_data SET block = substr(block, 1, 7) WHERE id > 10")
	})
	if err != nil {
		t.Fatal(err)
	}
	q := bridge.SearchQuery{Q: "message 29"}
	if got := len(matchesOf(t, s, q)); got != 11 {
		t.Errorf("%d matches while it is damaged", got)
	}
	for s.index.IsBroken() {
		bridge.Sleep(t.Context(), 20*time.Millisecond)
	}
	settle(t, s)
	if got := len(matchesOf(t, s, q)); got != 11 {
		t.Errorf("%d matches after that", got)
	}
}

// TestReindex_FailingLeavesTheIndexAsItWas: messages that change afterwards
// are found by what they say then.
func TestReindex_FailingLeavesTheIndexAsItWas(t *testing.T) {
	t.Parallel()
	s, fault := newFailingStore(t)
	for i := range 3 * testBlock {
		save(t, s, says(alice, alice, fmt.Sprintf("A%d", i), i, "the same"))
	}
	settle(t, s)
	fault.Set(errors.New("the drill"))
	if err := s.Reindex(t.Context(), nil); err == nil {
		t.Fatal("rebuilt in spite of the drill")
	}
	fault.Set(nil)
	edited := says(alice, alice, "A1", 1, "another")
	save(t, s, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(1000), New: edited})
	sameList(t, "found", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "another"})), []string{"A1"})
}
