package wa_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// heldPlaceholders is a store that delays placeholders until they are released or
// refused.
type heldPlaceholders struct {
	*store.Store
	came    chan struct{}
	answers chan error
}

func (s heldPlaceholders) Save(ctx context.Context, facts ...bridge.Fact) error {
	for _, fact := range facts {
		if m, ok := fact.(bridge.Message); ok && m.MessageType == bridge.TypeUndecryptable {
			s.came <- struct{}{}
			if err := <-s.answers; err != nil {
				return err
			}
		}
	}
	return s.Store.Save(ctx, facts...)
}

// TestUndecrypted_IsStoredBeforeItIsAnswered: neither an acknowledgement nor a
// retry receipt is sent before the placeholder is stored. If the store fails at
// that moment, or the program dies, the network still has the message.
func TestUndecrypted_IsStoredBeforeItIsAnswered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ group, hidden bool }{
		"damaged": {}, "damaged in a group": {group: true}, "not for this device": {hidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			network := newNetwork(t)
			held := heldPlaceholders{came: make(chan struct{}), answers: make(chan error)}
			a := startAccountWith(t, network, t.TempDir(), func(s *store.Store) wa.Store {
				held.Store = s
				return held
			})
			a.phone = newPhone(t, network, accountNumber, "Alex")
			a.pair()
			device, friend := a.device(), newPhone(t, network, "15550100301", "Sam")
			to, chat := a.phone.PN(), jidOf(friend)
			if test.group {
				group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "crew", Members: []*simnet.Phone{a.phone}})
				if err != nil {
					t.Fatal(err)
				}
				to, chat = group.JID(), bridge.JID(group.JID().String())
			}
			if err := device.WaitQuiet(ctx); err != nil {
				t.Fatal(err)
			}
			var id string
			var err error
			if test.hidden {
				id, err = friend.SendText(ctx, to, "only for the phone", simnet.HiddenViewOnce())
			} else {
				device.CorruptMessages(2)
				id, err = friend.SendText(ctx, to, "not to be read")
			}
			if err != nil {
				t.Fatal(err)
			}
			isAnswered := func() bool {
				return device.Counters().RetryReceipts > 0 ||
					slices.ContainsFunc(device.AcknowledgedMessages(), func(m simnet.Acknowledged) bool { return m.ID == id })
			}
			for _, answer := range []error{bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full").Because(errors.New("drill")), nil} {
				await(t, held.came)
				if isAnswered() {
					t.Error("it was answered before anything was stored")
				}
				held.answers <- answer
			}
			go func() { // it is reported once more
				for {
					select {
					case <-held.came:
						held.answers <- nil
					case <-ctx.Done():
						return
					}
				}
			}()
			eventually(t, "the answer", isAnswered)
			list := a.messages(chat)
			if len(list) != 1 || list[0].ID != id {
				t.Fatalf("stored %+v", list)
			}
		})
	}
}

// await waits for a value.
func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-testContext(t).Done():
		t.Fatal("waited too long")
	}
	return v
}

// TestUndecrypted_IsCountedOnce although it is stored twice.
func TestUndecrypted_IsCountedOnce(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	id, err := friend.SendText(ctx, a.phone.PN(), "hello", simnet.HiddenViewOnce())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.device().WaitAcknowledged(ctx, id); err != nil {
		t.Fatal(err)
	}
	if err := a.device().WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the count", func() bool { return a.manager.Traffic().Undecryptable > 0 })
	if got := a.manager.Traffic().Undecryptable; got != 1 {
		t.Errorf("counted %d times", got)
	}
	if list := a.messages(jidOf(friend)); len(list) != 1 {
		t.Errorf("stored %+v", list)
	}
}
