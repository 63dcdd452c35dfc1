package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"bridged/internal/bridge"
)

// fullBlocks saves enough messages of one chat for n blocks, and two more.
func fullBlocks(t *testing.T, s *Store, chat bridge.JID, n int) {
	t.Helper()
	var facts []bridge.Fact
	for i := range n*testBlock + 1 {
		facts = append(facts, says(chat, chat, fmt.Sprintf("%.4s-%d", chat, i), i, fmt.Sprintf("number %d of %s", i, chat)))
	}
	save(t, s, facts...)
}

// TestIndex_OfMessagesThatChangeMeanwhile: between reading a block and writing its
// packs, messages are edited and deleted.
func TestIndex_OfMessagesThatChangeMeanwhile(t *testing.T) {
	s := newStore(t)
	s.index.building.Lock() // the background indexes nothing
	fullBlocks(t, s, alice, 1)
	id, found, err := s.index.claim(t.Context())
	if err != nil || !found {
		t.Fatalf("claim: %v, %v", found, err)
	}
	var b block
	err = s.read(t.Context(), func(r *readTx) (err error) {
		b, err = s.index.planBlock(t.Context(), r.conn, id)
		return err
	})
	if err != nil || len(b.packs) < 4 {
		t.Fatalf("plan: %+v, %v", b, err)
	}
	edit := func(i int, text string) bridge.Edit {
		target := fmt.Sprintf("%.4s-%d", alice, i)
		return bridge.Edit{Chat: alice, Target: target, Editor: alice, Timestamp: at(999), New: says(alice, alice, target, 999, text)}
	}
	made, err := s.index.readPacks(t.Context(), b.packs)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.index.writePacks(t.Context(), b, b.packs[:2], made[:2], false); err != nil {
		t.Fatal(err)
	}
	save(t, s, edit(3, "after its pack was written"), edit(20, "before its pack is written"),
		bridge.Deletion{Chat: alice, Target: fmt.Sprintf("%.4s-%d", alice, 21), By: alice, Timestamp: at(999)})
	if err := s.index.writePacks(t.Context(), b, b.packs[2:], made[2:], true); err != nil {
		t.Fatal(err)
	}
	s.index.building.Unlock()
	check := func(when string) {
		t.Helper()
		for q, want := range map[string]int{"number 3 ": 0, "number 20 ": 0, "number 21 ": 0, "its pack": 2, "number 22 ": 1, "number": testBlock + 1 - 3} {
			if got := len(search(t, s, bridge.SearchQuery{Q: q, Limit: 500})); got != want {
				t.Errorf("%s, %q is found %d times, want %d", when, q, got, want)
			}
		}
	}
	check("at once")
	settle(t, s)
	check("later")
	erased(t, s)
	gone(t, s, "number 3 of", "number 20 of", "number 21 of")
}

// TestIndex_ThatWasInterruptedBeginsTheBlockAgain, in the same process and in the
// next one.
func TestIndex_ThatWasInterruptedBeginsTheBlockAgain(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			left := math.MaxInt // commits until one fails
			s := openWith(t, Options{Path: filepath.Join(t.TempDir(), "bridged.db"), BeforeCommit: func() error {
				if left--; left < 0 {
					return errors.New("the drill")
				}
				return nil
			}})
			s.stop()
			s.done.Wait() // without the background
			fullBlocks(t, s, alice, 2)
			left = 2
			if _, err := s.index.indexNext(t.Context()); err == nil {
				t.Fatal("indexed in spite of the drill")
			}
			left = math.MaxInt
			if n := countOf(t, s, "SELECT count(*) FROM packs"); n == 0 {
				t.Fatal("the test interrupts nothing")
			}
			if restart {
				s.index.claimed = noneIndexed
				if err := s.index.prepare(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := countOf(t, s, "SELECT count(*) FROM packs"); n != 0 {
					t.Errorf("%d packs are left at the start", n)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = openStore(t, s.path)
			}
			save(t, s, bridge.Deletion{Chat: alice, Target: fmt.Sprintf("%.4s-%d", alice, 1), By: alice, Timestamp: at(999)})
			for range 2 {
				if got := len(search(t, s, bridge.SearchQuery{Q: "number", Limit: 500})); got != 2*testBlock {
					t.Errorf("%d found, want %d", got, 2*testBlock)
				}
				settle(t, s)
			}
			if n := countOf(t, s, "SELECT count(*) FROM packs WHERE texts LIKE '%number 1 of%'"); n != 0 {
				t.Errorf("%d packs have what was deleted", n)
			}
		})
	}
}

// countOf returns the number that a query returns.
func countOf(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	err := s.read(t.Context(), func(r *readTx) error { return r.scan(t.Context(), query, nil, &n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSearch_InChatsThatBecomeOne: packs know of which chats they are.
func TestSearch_InChatsThatBecomeOne(t *testing.T) {
	s := newStore(t)
	fullBlocks(t, s, alice, 2)
	fullBlocks(t, s, aliceLID, 2)
	twice := says(alice, alice, "twice", 500, "told under both names")
	save(t, s, twice)
	twice.Chat = aliceLID
	save(t, s, twice)
	fullBlocks(t, s, bob, 1)
	settle(t, s)
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	for range 2 {
		for q, want := range map[string]int{"number": 4*testBlock + 2, "number 7 ": 2, "both names": 1} {
			if got := len(messages(t, s, bridge.MessageQuery{Chat: alice, Q: q, Limit: 500})); got != want {
				t.Errorf("in the chat, %q is found %d times, want %d", q, got, want)
			}
			if got := len(search(t, s, bridge.SearchQuery{Q: q, Limit: 500, Only: []bridge.JID{alice}})); got != want {
				t.Errorf("by search, %q is found %d times, want %d", q, got, want)
			}
		}
		settle(t, s)
	}
	if n := countOf(t, s, "SELECT count(*) FROM packs WHERE texts IS NULL"); n != 0 {
		t.Errorf("%d packs are still stale", n)
	}
}

// TestSample_CountsWhatIsCommon in the packs.
func TestSample_CountsWhatIsCommon(t *testing.T) {
	s := newStore(t)
	fullBlocks(t, s, alice, 8)
	settle(t, s)
	s.stop()
	s.done.Wait()
	if err := s.index.sample(context.Background()); err != nil {
		t.Fatal(err)
	}
	rare := s.index.rarity.Load()
	if common, other := rare.share([]byte("numb")), rare.share([]byte("qqqq")); common < 0.99 || other > 0.05 {
		t.Errorf("shares: %v and %v", common, other)
	}
}

// TestSample_TakesLittleMemory: hundreds of packs are counted at every start.
func TestSample_TakesLittleMemory(t *testing.T) {
	texts := bytes.Repeat([]byte("some words of a message "), 500)
	rare, s := new(rarity), new(sampling)
	if allocations := testing.AllocsPerRun(10, func() { rare.add(texts, s) }); allocations > 0 {
		t.Errorf("%v allocations a pack", allocations)
	}
}
