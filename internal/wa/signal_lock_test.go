package wa

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mau.fi/whatsmeow/store"
)

// heldSessions is a session store that returns nothing.
type heldSessions struct {
	store.NoopStore
}

func (*heldSessions) GetSession(context.Context, string) ([]byte, error) { return nil, nil }
func (*heldSessions) PutSession(context.Context, string, []byte) error   { return nil }
func (*heldSessions) GetManySessions(context.Context, []string) (map[string][]byte, error) {
	return nil, nil
}
func (*heldSessions) PutManySessions(context.Context, map[string][]byte) error { return nil }
func (*heldSessions) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	return fn(ctx)
}

func newTestStore() *lockedStore {
	s := new(heldSessions)
	return &lockedStore{SessionStore: s, EventBuffer: s, lock: newSignalLock(), failed: func(error) {}}
}

// decrypting starts a decryption and returns a channel that is closed when it
// ended.
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
		ctx, end := s.lock.forSend(context.Background())
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
		ctx, end := s.lock.forSend(context.Background())
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
