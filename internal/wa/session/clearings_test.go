package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// countedBuffer counts transactions and records what was cleared inside and outside
// of them.
type countedBuffer struct {
	heldSessions
	mu              sync.Mutex // guards everything below
	transactions    int
	inside, outside [][32]byte
	broken          error // the error of the next commit
}

func (b *countedBuffer) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	b.mu.Lock()
	b.transactions++
	before := len(b.inside)
	b.mu.Unlock()
	err := fn(context.WithValue(ctx, inTransaction{}, true))
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		err, b.broken = b.broken, nil
	}
	if err != nil {
		b.inside = b.inside[:before] // rolled back
	}
	return err
}

// breaks makes the next commit fail.
func (b *countedBuffer) breaks() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = errors.New("disk full")
}

func (b *countedBuffer) ClearBufferedEventPlaintext(ctx context.Context, hash [32]byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Value(inTransaction{}) == nil {
		b.outside = append(b.outside, hash)
	} else {
		b.inside = append(b.inside, hash)
	}
	return nil
}

func newCountedStore() (*countedBuffer, *lockedStore) {
	b := new(countedBuffer)
	return b, newLockedStore(signalStores{b, b, b, b, b}, func(error) {}, zerolog.Nop())
}

// clearAll clears all hashes, as whatsmeow does after a handler.
func clearAll(t *testing.T, s *lockedStore, hashes ...[32]byte) {
	t.Helper()
	for _, hash := range hashes {
		if err := s.ClearBufferedEventPlaintext(t.Context(), hash); err != nil {
			t.Fatal(err)
		}
	}
}

var one, two = [32]byte{1}, [32]byte{2}

func TestClearedContent_RideWithTheNextDecryption(t *testing.T) {
	b, s := newCountedStore()
	clearAll(t, s, one)
	if b.transactions != 0 || len(b.outside) != 0 {
		t.Fatalf("%d transactions and %d commits of their own before the next decryption", b.transactions, len(b.outside))
	}
	<-decrypting(t, s)
	if b.transactions != 1 || !slices.Equal(b.inside, [][32]byte{one}) {
		t.Errorf("%d transactions cleared %v; want 1 and the one hash", b.transactions, b.inside)
	}
	s.end()
	if b.transactions != 1 {
		t.Errorf("the end cleared again")
	}
}

func TestClearedContent_AreKeptWhereTheTransactionFails(t *testing.T) {
	b, s := newCountedStore()
	clearAll(t, s, one)
	b.breaks()
	if err := s.DoDecryptionTxn(t.Context(), func(context.Context) error { return nil }); err == nil {
		t.Fatal("the transaction did not fail")
	}
	notDecrypted := errors.New("no session")
	if err := s.DoDecryptionTxn(t.Context(), func(context.Context) error { return notDecrypted }); !errors.Is(err, notDecrypted) {
		t.Fatalf("a message that cannot be decrypted: %v", err)
	}
	clearAll(t, s, two)
	<-decrypting(t, s)
	if !slices.Equal(b.inside, [][32]byte{one, two}) {
		t.Errorf("cleared %v, want both in their order", b.inside)
	}
}

func TestClearedContent_AreFlushedWhenItIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newCountedStore()
		clearAll(t, s, one, two)
		b.breaks()
		time.Sleep(2 * clearPause)
		synctest.Wait()
		if len(b.inside) != 0 {
			t.Fatal("a failed flush cleared")
		}
		clearAll(t, s, [32]byte{3}) // begins the next pause
		time.Sleep(2 * clearPause)
		synctest.Wait()
		if len(b.inside) != 3 || b.transactions != 2 {
			t.Errorf("%d cleared in %d transactions; want 3 in the second", len(b.inside), b.transactions)
		}
		time.Sleep(2 * clearRetry)
		synctest.Wait()
		if b.transactions != 2 {
			t.Errorf("%d transactions where nothing was left", b.transactions)
		}
		s.end()
	})
}

// Even if nothing comes after the failure: a flush, or the transaction of a message
// that could not be decrypted.
func TestClearedContent_AreFlushedAfterAFailure(t *testing.T) {
	for what, fail := range map[string]func(*testing.T, *countedBuffer, *lockedStore){
		"a flush": func(_ *testing.T, b *countedBuffer, _ *lockedStore) { b.breaks() },
		"a message": func(t *testing.T, _ *countedBuffer, s *lockedStore) {
			_ = s.DoDecryptionTxn(t.Context(), func(context.Context) error {
				time.Sleep(2 * clearPause) // the pause ends meanwhile
				return errors.New("no session")
			})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, s := newCountedStore()
			clearAll(t, s, one)
			fail(t, b, s)
			time.Sleep(clearPause + clearRetry)
			synctest.Wait()
			if !slices.Equal(b.inside, [][32]byte{one}) {
				t.Errorf("cleared %v after the failure of %s, want the one", b.inside, what)
			}
			s.end()
		})
	}
}

func TestClearedContent_AreFlushedAtTheEnd(t *testing.T) {
	b, s := newCountedStore()
	clearAll(t, s, one)
	s.end()
	if !slices.Equal(b.inside, [][32]byte{one}) {
		t.Errorf("cleared %v at the end, want the one", b.inside)
	}
	clearAll(t, s, two) // a stanza whose handler is still running
	if !slices.Equal(b.outside, [][32]byte{two}) {
		t.Errorf("cleared %v at once, want what came after the end", b.outside)
	}
}
