package session

import (
	"context"
	"errors"
	"testing"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// keptWrites counts the writes inside and outside of a transaction.
type keptWrites struct {
	heldSessions
	inside, outside map[string]int
	failing         error
}

func (s *keptWrites) note(ctx context.Context, what string) error {
	if ctx.Value(inTransaction{}) != nil {
		s.inside[what]++
	} else {
		s.outside[what]++
	}
	return s.failing
}

func (s *keptWrites) PutIdentity(ctx context.Context, address string, _ [32]byte) error {
	return s.note(ctx, "identity of "+address)
}

func (s *keptWrites) PutSenderKey(ctx context.Context, _, _ string, key []byte) error {
	return s.note(ctx, "sender key "+string(key))
}

func (s *keptWrites) GetSenderKey(context.Context, string, string) ([]byte, error) {
	return []byte("old"), nil
}

func (s *keptWrites) PutMessageSecrets(ctx context.Context, secrets []store.MessageSecretInsert) error {
	for _, secret := range secrets {
		if err := s.note(ctx, "secret of "+secret.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s *keptWrites) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	return s.note(ctx, "sessions")
}

func newKeptWrites() (*keptWrites, *lockedStore) {
	kept := &keptWrites{inside: make(map[string]int), outside: make(map[string]int)}
	s := newLockedStore(signalStores{kept, kept, kept, kept, kept}, func(error) {}, zerolog.Nop())
	s.known = func(context.Context, []string) (map[string][32]byte, error) {
		return map[string][32]byte{"same": {1}, "changed": {1}}, nil
	}
	return kept, s
}

// encrypt makes whatsmeow's calls while it encrypts for a group.
func encrypt(t *testing.T, ctx context.Context, s *lockedStore) {
	t.Helper()
	if err := s.PutMessageSecret(ctx, types.JID{}, types.JID{}, "ID", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"first", "second"} {
		if err := s.PutSenderKey(ctx, "group", "me", []byte(key)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.GetSenderKey(ctx, "group", "me"); err != nil || string(got) != key {
			t.Errorf("the sender key: got %s, %v, want %s", got, err, key)
		}
	}
	if _, err := s.GetManySessions(ctx, []string{"same", "changed", "new"}); err != nil {
		t.Fatal(err)
	}
	for address, key := range map[string]byte{"same": 1, "changed": 2, "new": 1} {
		if err := s.PutIdentity(ctx, address, [32]byte{key}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSendWrites_AreOneTransaction, which stores only changes.
func TestSendWrites_AreOneTransaction(t *testing.T) {
	t.Parallel()
	kept, s := newKeptWrites()
	ctx, end := s.lock.forSend(t.Context(), nil)
	defer end()
	encrypt(t, ctx, s)
	if len(kept.inside)+len(kept.outside) != 0 {
		t.Errorf("stored before the sessions: %v, %v", kept.inside, kept.outside)
	}
	if err := s.PutManySessions(ctx, map[string][]byte{"a": nil}); err != nil {
		t.Fatal(err)
	}
	if len(kept.outside) != 0 {
		t.Errorf("stored outside of the transaction: %v", kept.outside)
	}
	want := []string{"secret of ID", "sender key second", "identity of changed", "identity of new", "sessions"}
	for _, what := range want {
		if kept.inside[what] != 1 {
			t.Errorf("stored %d times in the transaction: %s", kept.inside[what], what)
		}
	}
	if len(kept.inside) != len(want) {
		t.Errorf("stored in the transaction: %v, want %v", kept.inside, want)
	}
	s.storeRest(ctx)
	if len(kept.outside)+len(kept.inside) != len(want) {
		t.Errorf("stored a second time: %v, %v", kept.inside, kept.outside)
	}
}

// TestSendWrites_OfASendThatFailsAreDropped: the next attempt makes them again.
func TestSendWrites_OfASendThatFailsAreDropped(t *testing.T) {
	t.Parallel()
	kept, s := newKeptWrites()
	kept.failing = errors.New("drill")
	ctx, end := s.lock.forSend(t.Context(), nil)
	encrypt(t, ctx, s)
	if err := s.PutManySessions(ctx, nil); !errors.Is(err, kept.failing) {
		t.Errorf("got %v", err)
	}
	if OutcomeOf(ctx).MayHaveLeft {
		t.Error("the message may leave though nothing is stored")
	}
	end()
	again, end := s.lock.forSend(t.Context(), nil)
	defer end()
	if key, err := s.GetSenderKey(again, "group", "me"); err != nil || string(key) != "old" {
		t.Errorf("the next try: got the sender key %s, %v", key, err)
	}
}

// TestSendWrites_OfAMessageWithoutRecipientsAreStored, although there are no sessions.
func TestSendWrites_OfAMessageWithoutRecipientsAreStored(t *testing.T) {
	t.Parallel()
	kept, s := newKeptWrites()
	ctx, end := s.lock.forSend(t.Context(), nil)
	defer end()
	if err := s.PutSenderKey(ctx, "group", "me", []byte("first")); err != nil {
		t.Fatal(err)
	}
	s.storeRest(ctx)
	if kept.inside["sender key first"] != 1 {
		t.Errorf("stored: %v", kept.inside)
	}
}

// TestSendWrites_OfOthersAreStoredAtOnce: those of received messages and of single
// encryptions.
func TestSendWrites_OfOthersAreStoredAtOnce(t *testing.T) {
	t.Parallel()
	kept, s := newKeptWrites()
	ctx := t.Context()
	if err := errors.Join(s.PutSenderKey(ctx, "group", "them", []byte("theirs")), s.PutIdentity(ctx, "a", [32]byte{})); err != nil {
		t.Fatal(err)
	}
	if kept.outside["sender key theirs"] != 1 || kept.outside["identity of a"] != 1 {
		t.Errorf("stored: %v", kept.outside)
	}
}
