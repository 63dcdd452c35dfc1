package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/store"
)

// heldSessions is a session store that returns nothing, and keeps identities.
type heldSessions struct {
	store.NoopStore
	identities map[string][32]byte
	outside    int // identities stored outside of a transaction
}

type inTransaction struct{}

func (s *heldSessions) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	if s.identities == nil {
		s.identities = make(map[string][32]byte)
	}
	if ctx.Value(inTransaction{}) == nil {
		s.outside++
	}
	s.identities[address] = key
	return nil
}
func (*heldSessions) DeleteIdentity(context.Context, string) error { return nil }

func (*heldSessions) GetSession(context.Context, string) ([]byte, error) { return nil, nil }
func (*heldSessions) PutSession(context.Context, string, []byte) error   { return nil }
func (*heldSessions) GetManySessions(context.Context, []string) (map[string][]byte, error) {
	return nil, nil
}
func (*heldSessions) PutManySessions(context.Context, map[string][]byte) error { return nil }
func (*heldSessions) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	return fn(context.WithValue(ctx, inTransaction{}, true))
}

func newTestStore() *lockedStore {
	s := new(heldSessions)
	return newLockedStore(signalStores{s, s, s, s, s}, func(error) {}, zerolog.Nop())
}

// decrypting starts a decryption and returns a channel that is closed at its end.
func decrypting(t *testing.T, s *lockedStore) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.DoDecryptionTxn(context.Background(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("decryption: %v", err)
		}
	}()
	return done
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func TestSignalLock_DecryptionWaitsForASend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestStore()
		ctx, end := s.lock.forSend(context.Background(), nil)
		defer end()
		if _, err := s.GetManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, s)
		synctest.Wait()
		if isDone(done) {
			t.Fatal("a message was decrypted between a send's loading and storing of its sessions")
		}
		if err := s.PutManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !isDone(done) {
			t.Error("the decryption still waits after the sessions are stored")
		}
	})
}

func TestSignalLock_ASendThatFailsHalfwayGivesItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestStore()
		ctx, end := s.lock.forSend(context.Background(), nil)
		if _, err := s.GetManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, s)
		end()
		synctest.Wait()
		if !isDone(done) {
			t.Error("the decryption still waits after the send ended")
		}
	})
}

func TestSignalLock_ASingleEncryptionHoldsItUntilItsSessionIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestStore()
		ctx := context.Background()
		if _, err := s.GetSession(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, s)
		synctest.Wait()
		if isDone(done) {
			t.Fatal("a message was decrypted during an encryption")
		}
		if err := s.PutSession(ctx, "a", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !isDone(done) {
			t.Error("the decryption still waits after the session is stored")
		}
	})
}

func TestSignalLock_AnEncryptionThatFailsLosesItAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestStore()
		if _, err := s.GetSession(context.Background(), "a"); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, s)
		time.Sleep(singleLimit + time.Millisecond) // virtual time
		synctest.Wait()
		if !isDone(done) {
			t.Error("an encryption that failed holds up decryption")
		}
	})
}

// TestSignalLock_ASendThatGetsOnKeepsIt, however long it takes; an idle one loses
// it.
func TestSignalLock_ASendThatGetsOnKeepsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestStore()
		ctx, end := s.lock.forSend(context.Background(), nil)
		defer end()
		if _, err := s.GetManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			time.Sleep(idleLimit - time.Second) // virtual time
			if err := s.PutIdentity(ctx, "a", [32]byte{}); err != nil {
				t.Fatalf("ended while it got on: %v", err)
			}
		}
		time.Sleep(idleLimit + time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, ErrHeldTooLong) {
			t.Errorf("idle: ended because of %v, want %v", cause, ErrHeldTooLong)
		}
	})
}

// TestSignalLock_ASendStoresIdentitiesWithItsSessions, not one by one, and sees
// them before.
func TestSignalLock_ASendStoresIdentitiesWithItsSessions(t *testing.T) {
	s := newTestStore()
	ctx, end := s.lock.forSend(context.Background(), nil)
	defer end()
	if _, err := s.GetManySessions(ctx, nil); err != nil {
		t.Fatal(err)
	}
	stored := s.IdentityStore.(*heldSessions)
	for _, address := range []string{"a", "b", "c", "a"} {
		if err := s.PutIdentity(ctx, address, [32]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteIdentity(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[byte]bool{1: true, 2: false} {
		if trusted, err := s.IsTrustedIdentity(ctx, "a", [32]byte{key}); err != nil || trusted != want {
			t.Errorf("key %d is trusted: %v, %v, want %v", key, trusted, err, want)
		}
	}
	if n := len(stored.identities); n != 0 {
		t.Errorf("%d identities were stored before the sessions", n)
	}
	if err := s.PutManySessions(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(stored.identities); n != 2 || stored.outside != 0 {
		t.Errorf("stored %d identities, %d outside of the transaction; want 2 and 0", n, stored.outside)
	}
}

func TestSignalLock_WaitingEndsWithItsContext(t *testing.T) {
	s := newTestStore()
	if _, err := s.GetSession(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.GetSession(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting with an ended context: got %v", err)
	}
}
