package wa_test

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestUpdateChat_Timer: the timer that the bridge sets shows on both phones, and applies to later
// messages; timers of the phones are followed.
func TestUpdateChat_Timer(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.receive(friend, a.phone.PN(), jidOf(friend), "hello")
	for _, seconds := range []uint32{604800, 86400, 0, 7776000} {
		before := a.chatUpdates(jidOf(friend))
		if err := a.updateChat(jidOf(friend), bridge.ChatPatch{Pinned: new(seconds != 0), Expiration: &seconds}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the timer on the friend's phone", func() bool { return friend.Timer(a.phone.PN()) == seconds })
		eventually(t, "the timer on the account's phone", func() bool { return a.phone.Timer(friend.PN()) == seconds })
		if got := a.chatWith(friend); got.Expiration != seconds {
			t.Errorf("stored %+v, want %d seconds", got, seconds)
		}
		if a.chatUpdates(jidOf(friend)) == before {
			t.Error("no event")
		}
	}
	sent := a.sendStored(jidOf(friend), "later")
	if sent.ExpiresAt == nil {
		t.Error("a later message stays")
	}
	for _, phone := range []*simnet.Phone{friend, a.phone} {
		to := friend
		if phone == friend {
			to = a.phone
		}
		for _, seconds := range []uint32{86400, 0} {
			if err := phone.SetDisappearing(ctx, to.PN(), seconds); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the phone's timer", func() bool { return a.chatWith(friend).Expiration == seconds })
		}
	}
}

// TestUpdateChat_TimerThatIsRefused: the changes before it are named.
func TestUpdateChat_TimerThatIsRefused(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.receive(friend, a.phone.PN(), jidOf(friend), "hello")
	week := uint32(604800)
	a.device().FailSends(simnet.SendFault{Code: 400})
	err := a.updateChat(jidOf(friend), bridge.ChatPatch{Pinned: new(true), Expiration: &week})
	if got := a.chatWith(friend); bridge.CodeOf(err) != bridge.CodeSendRefused || !got.Pinned || got.Expiration != 0 {
		t.Errorf("refused: %v, stored %+v", err, got)
	}
}
