package store

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// filled is the path of a closed store with some thousand messages.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "filled.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, owner(), bridge.Group{JID: club, Name: "Club"})
	var facts []bridge.Fact
	for i := range 3000 {
		chat := []bridge.JID{alice, bob, club}[i%3]
		facts = append(facts, says(chat, alice, fmt.Sprintf("M%d", i), i, fmt.Sprintf("hi, this is message %d", i)))
	}
	save(t, s, facts...)
	settle(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// hit overwrites random pages but the first.
func hit(t *testing.T, path string, random *rand.Rand, pages int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range pages {
		page := 1 + random.IntN(len(data)/4096-1)
		for i := range 4096 {
			data[page*4096+i] = byte(random.Uint32())
		}
	}
	write(t, path, string(data))
}

// TestDamage_IsCalledByItsName overwrites random pages of a store. Whatever
// they held: what still works works, and everything else is refused with a
// sentence that says what to do, at the latest when the background has looked
// at every page.
func TestDamage_IsCalledByItsName(t *testing.T) {
	t.Parallel()
	whole := filled(t)
	original, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	base := rand.Uint64()
	opened := 0
	for i := range uint64(25) {
		seed := base + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			path := filepath.Join(t.TempDir(), "bridged.db")
			write(t, path, string(original))
			pages := 1 // with many, hardly a store this small is opened
			if i%2 == 1 {
				pages += random.IntN(30)
			}
			hit(t, path, random, pages)
			s, err := Open(t.Context(), Options{Path: path, Log: zerolog.New(io.Discard)})
			if err != nil {
				saysRemedy(t, "opening", err)
				return
			}
			opened++
			defer s.Close()
			for method, read := range reading(s) {
				switch err := read(context.Background()); bridge.CodeOf(err) {
				case bridge.CodeStorageUnavailable:
					saysRemedy(t, method, err)
				case bridge.CodeNotFound:
				default:
					if err != nil {
						t.Errorf("%s: %v", method, err)
					}
				}
			}
			if err := s.Save(t.Context(), says(bob, bob, "NEW", 9000, "hi")); err != nil {
				saysRemedy(t, "saving", err)
			}
			<-s.checked
			if damage := s.Damage(); damage != nil {
				saysRemedy(t, "the check", damage)
			} else if _, err := s.Messages(t.Context(), bridge.MessageQuery{Chat: alice, Limit: 500}); err != nil {
				t.Errorf("the check found nothing, but reading fails: %v", err)
			}
		})
	}
	if opened == 0 {
		t.Error("no damaged store was opened at all")
	}
}

func saysRemedy(t *testing.T, what string, err error) {
	t.Helper()
	if !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("%s: refused without a name or a remedy: %v", what, err)
	}
}

// TestDamage_OfTheIndexAloneIsRepaired: nothing is lost that cannot be made
// again from the messages.
func TestDamage_OfTheIndexAloneIsRepaired(t *testing.T) {
	t.Parallel()
	path := filled(t)
	run(t, path, "PRAGMA writable_schema = 1; UPDATE grams_data SET block = zeroblob(100) WHERE id > 10")
	s := openStore(t, path)
	<-s.checked
	if err := s.Damage(); err != nil {
		t.Errorf("damage of the index alone: %v", err)
	}
	if got := len(matchesOf(t, s, bridge.SearchQuery{Q: "message 77", Limit: 100})); got != 11 {
		t.Errorf("%d matches, want 11", got)
	}
}

// TestCheck_TellsAPassingErrorUntilItHasPassed: an I/O error that has passed
// must not stay in the status until a restart, nor hide damage that was found.
func TestCheck_TellsAPassingErrorUntilItHasPassed(t *testing.T) {
	t.Parallel()
	s := &Store{o: Options{Log: zerolog.Nop()}}
	answer := func(damaged map[string]string, err error) func(context.Context) (map[string]string, error) {
		return func(context.Context) (map[string]string, error) { return damaged, err }
	}
	if s.check(t.Context(), answer(nil, io.ErrUnexpectedEOF)) || bridge.CodeOf(s.Damage()) != bridge.CodeStorageUnavailable {
		t.Errorf("while the store cannot be read: %v", s.Damage())
	}
	if !s.check(t.Context(), answer(nil, nil)) || s.Damage() != nil {
		t.Errorf("once it can be read: %v", s.Damage())
	}
	if s.check(t.Context(), answer(map[string]string{"messages": "a page is missing"}, io.ErrUnexpectedEOF)) {
		t.Error("a check that could not read the rest came to an end")
	}
	if !s.check(t.Context(), answer(nil, nil)) || !strings.Contains(fmt.Sprint(s.Damage()), "damaged") {
		t.Errorf("damage beside a passing error: %v", s.Damage())
	}
}
