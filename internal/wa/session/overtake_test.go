package session

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"go.mau.fi/whatsmeow/types"
)

// manyAddresses returns more addresses than a send may hold the lock for.
func manyAddresses() (addresses []string) {
	for n := range fewSessions + 1 {
		addresses = append(addresses, fmt.Sprintf("%d_1:0", n))
	}
	return addresses
}

// encrypting begins a send to many devices.
func encrypting(t *testing.T, s *lockedStore, again bool) (context.Context, func()) {
	t.Helper()
	ctx, end := s.lock.forSend(t.Context(), nil, again)
	if _, err := s.GetManySessions(ctx, manyAddresses()); err != nil {
		t.Fatal(err)
	}
	return ctx, end
}

// TestOvertaking_DecryptionDoesNotWaitForASendToMany, except for one that was
// overtaken before.
func TestOvertaking_DecryptionDoesNotWaitForASendToMany(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newTestStore()
			ctx, end := encrypting(t, s, again)
			defer end()
			done := decrypting(t, s)
			synctest.Wait()
			if isDone(done) == again {
				t.Errorf("overtaken before: %v; decrypted while the send encrypts: %v", again, !again)
			}
			if err := s.PutManySessions(ctx, nil); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if !isDone(done) {
				t.Error("the decryption still waits after the send")
			}
		})
	}
}

// TestOvertaking_VoidsWhatIsEncrypted if the session with one of the recipients has
// changed.
func TestOvertaking_VoidsWhatIsEncrypted(t *testing.T) {
	t.Parallel()
	member, stranger := types.NewJID("3", types.HiddenUserServer), types.NewJID("999", types.HiddenUserServer)
	number := types.NewJID("15550100301", types.DefaultUserServer)
	for name, c := range map[string]struct {
		change func(context.Context, *lockedStore) error
		want   error
	}{
		"a member's session": {func(ctx context.Context, s *lockedStore) error {
			return s.DoDecryptionTxn(ctx, func(ctx context.Context) error { return s.PutSession(ctx, "3_1:7", nil) })
		}, ErrOvertaken},
		"a stranger's session": {func(ctx context.Context, s *lockedStore) error { return s.PutSession(ctx, "999_1:0", nil) }, nil},
		"a session deleted":    {func(ctx context.Context, s *lockedStore) error { return s.DeleteSession(ctx, "3_1:0") }, ErrOvertaken},
		"all of a member's":    {func(ctx context.Context, s *lockedStore) error { return s.DeleteAllSessions(ctx, "3_1") }, ErrOvertaken},
		"moved to a member":    {func(ctx context.Context, s *lockedStore) error { return s.MigratePNToLID(ctx, number, member) }, ErrOvertaken},
		"moved to a stranger":  {func(ctx context.Context, s *lockedStore) error { return s.MigratePNToLID(ctx, number, stranger) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			kept, s := newKeptWrites()
			ctx, end := encrypting(t, s, false)
			if err := s.PutSenderKey(ctx, "group", "me", []byte("new")); err != nil {
				t.Fatal(err)
			}
			if err := c.change(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			err := s.PutManySessions(ctx, map[string][]byte{"3_1:0": nil})
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if stored := kept.inside["sessions"] + kept.inside["sender key new"]; (stored == 2) != (c.want == nil) {
				t.Errorf("stored: %v", kept.inside)
			}
			if MayHaveLeft(ctx) != (c.want == nil) {
				t.Errorf("may have left: %v", MayHaveLeft(ctx))
			}
			end()
			select { // the lock is free again
			case <-s.lock.free:
			default:
				t.Error("the lock is held after the send")
			}
		})
	}
}

// TestOvertaking_OfAnEarlierSendChangesNothing: a send that ends late does not end
// the next.
func TestOvertaking_OfAnEarlierSendChangesNothing(t *testing.T) {
	t.Parallel()
	_, s := newKeptWrites()
	_, endFirst := encrypting(t, s, false)
	ctx, end := encrypting(t, s, false)
	defer end()
	endFirst()
	if err := s.PutSession(t.Context(), "3_1:0", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.PutManySessions(ctx, nil); !errors.Is(err, ErrOvertaken) {
		t.Errorf("got %v, want %v", err, ErrOvertaken)
	}
}
