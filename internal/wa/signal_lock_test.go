package wa

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mau.fi/whatsmeow/store"
)

// heldSessions is a session store that answers nothing and notes who is in.
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

func newTestGuard() *signalGuard {
	s := new(heldSessions)
	return newSignalGuard(s, s, func(error) {})
}

// decrypting starts a decryption and answers a channel that is closed when it
// had its turn.
func decrypting(t *testing.T, g *signalGuard) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := g.DoDecryptionTxn(context.Background(), func(context.Context) error { return nil }); err != nil {
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

func TestGuard_DecryptionWaitsForASend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTestGuard()
		ctx, end := g.sendTurn(context.Background())
		defer end()
		if _, err := g.GetManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, g)
		synctest.Wait()
		if isDone(done) {
			t.Fatal("a message was decrypted between a send's loading and storing of its sessions")
		}
		if err := g.PutManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !isDone(done) {
			t.Error("the decryption still waits after the sessions are stored")
		}
	})
}

func TestGuard_ASendThatFailsHalfwayGivesItsTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTestGuard()
		ctx, end := g.sendTurn(context.Background())
		if _, err := g.GetManySessions(ctx, nil); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, g)
		end()
		synctest.Wait()
		if !isDone(done) {
			t.Error("the decryption still waits after the send ended")
		}
	})
}

func TestGuard_ASingleEncryptionHoldsItsTurnUntilItsSessionIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTestGuard()
		ctx := context.Background()
		if _, err := g.GetSession(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, g)
		synctest.Wait()
		if isDone(done) {
			t.Fatal("a message was decrypted during an encryption")
		}
		if err := g.PutSession(ctx, "a", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !isDone(done) {
			t.Error("the decryption still waits after the session is stored")
		}
	})
}

func TestGuard_AnEncryptionThatFailsLosesItsTurnAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTestGuard()
		if _, err := g.GetSession(context.Background(), "a"); err != nil {
			t.Fatal(err)
		}
		done := decrypting(t, g)
		time.Sleep(leaseTime + time.Millisecond) // virtual time
		synctest.Wait()
		if !isDone(done) {
			t.Error("an encryption that failed holds up decryption for ever")
		}
	})
}

func TestGuard_WaitingEndsWithItsContext(t *testing.T) {
	g := newTestGuard()
	if _, err := g.GetSession(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.GetSession(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting with an ended context: got %v", err)
	}
}
