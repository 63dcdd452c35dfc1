package wa_test

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// move gives a person a new account.
func move(t *testing.T, p *simnet.Phone, m simnet.Move) *simnet.Phone {
	t.Helper()
	moved, err := p.Move(testContext(t), m)
	if err != nil {
		t.Fatal(err)
	}
	return moved
}

// TestRefreshLID_SendsOnceMoreToTheNewAccount: the network acknowledges a message to a LID
// that the number does not have any more. It reaches the new account with its id, once.
func TestRefreshLID_SendsOnceMoreToTheNewAccount(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	a := newAccount(t, network)
	old := newPhone(t, network, "15550100301", "Sam")
	if _, err := a.send(jidOf(old), "before"); err != nil {
		t.Fatal(err)
	}
	sam := move(t, old, simnet.Move{Quiet: true})
	before := a.device().Counters().Sent
	sent, err := a.send(jidOf(sam), "after")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sam.ReceivedID(ctx, sent.ID); err != nil {
		t.Fatal(err)
	}
	if tries := a.device().Counters().Sent - before; tries != 2 {
		t.Errorf("%d tries, want 2", tries)
	}
	if _, err := a.send(jidOf(sam), "and again"); err != nil {
		t.Fatal(err)
	}
	if tries := a.device().Counters().Sent - before; tries != 3 {
		t.Errorf("%d tries with the next message, want 3", tries)
	}
	if got := a.messages(jidOf(sam)); len(got) != 3 {
		t.Errorf("%d messages are stored, want 3", len(got))
	}
	if a.store.Canonical(lidOf(old)) != jidOf(sam) || a.store.LIDOf(jidOf(sam)) != lidOf(sam) {
		t.Errorf("the old LID is %s, the new one %s", a.store.Canonical(lidOf(old)), a.store.LIDOf(jidOf(sam)))
	}
}

// TestRefreshLID_HoldsForAllThatIsSent: changes of messages, and a message that is sent
// again with its Idempotency-Key.
func TestRefreshLID_HoldsForAllThatIsSent(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(a *account, m bridge.Message) (bridge.Sent, error){
		"a reaction": func(a *account, m bridge.Message) (bridge.Sent, error) {
			return a.manager.Send(testContext(a.t), bridge.Outgoing{To: m.Chat, Content: bridge.Reaction{Target: m, Emoji: "👍"}})
		},
		"an edit": func(a *account, m bridge.Message) (bridge.Sent, error) {
			return a.manager.Send(testContext(a.t), bridge.Outgoing{To: m.Chat, Content: bridge.TextEdit{Target: m, Text: "edited"}})
		},
		"a deletion": func(a *account, m bridge.Message) (bridge.Sent, error) {
			return a.manager.Send(testContext(a.t), bridge.Outgoing{To: m.Chat, Content: bridge.Revocation{Target: m}})
		},
		"a poll": func(a *account, m bridge.Message) (bridge.Sent, error) {
			return a.manager.Send(testContext(a.t), bridge.Outgoing{To: m.Chat, Content: bridge.Poll{Name: "Lunch?", Values: []string{"yes", "no"}, Selectable: 1}})
		},
		"a repeated send": func(a *account, m bridge.Message) (bridge.Sent, error) {
			return a.manager.Resend(testContext(a.t), m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, network := testContext(t), newNetwork(t)
			a := newAccount(t, network)
			old := newPhone(t, network, "15550100301", "Sam")
			m := a.sendStored(jidOf(old), "before")
			sam := move(t, old, simnet.Move{Quiet: true})
			sent, err := send(a, m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sam.ReceivedID(ctx, sent.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRefreshLID_OfANumberWithoutAnAccount: the send fails, and so does the next one, for
// which the network is not written to.
func TestRefreshLID_OfANumberWithoutAnAccount(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	sam := newPhone(t, network, "15550100301", "Sam")
	m := a.sendStored(jidOf(sam), "before")
	sam.Unregister()
	if _, err := a.send(jidOf(sam), "after"); bridge.CodeOf(err) != bridge.CodeNotOnNetwork {
		t.Errorf("got %v, want %s", err, bridge.CodeNotOnNetwork)
	}
	stored := a.messages(jidOf(sam))
	if last := stored[len(stored)-1]; last.Status == nil || *last.Status != bridge.DeliveryFailed {
		t.Errorf("the message is stored as %v", last.Status)
	}
	before := a.device().Counters().Sent
	if _, err := a.send(jidOf(sam), "once more"); bridge.CodeOf(err) != bridge.CodeNotOnNetwork {
		t.Errorf("the next message: got %v, want %s", err, bridge.CodeNotOnNetwork)
	}
	if err := a.edit(m, "edited"); bridge.CodeOf(err) != bridge.CodeNotOnNetwork {
		t.Errorf("an edit: got %v, want %s", err, bridge.CodeNotOnNetwork)
	}
	if sent := a.device().Counters().Sent - before; sent != 0 {
		t.Errorf("%d messages went out", sent)
	}
}

// TestRefreshLID_IsFollowedOnce: an account whose LID is the same keeps the message, as
// the network has accepted it.
func TestRefreshLID_IsFollowedOnce(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	a := newAccount(t, network)
	sam := newPhone(t, network, "15550100301", "Sam")
	if _, err := a.send(jidOf(sam), "before"); err != nil {
		t.Fatal(err)
	}
	device := a.device()
	before := device.Counters().Sent
	device.FailSends(simnet.SendFault{RefreshLID: true})
	sent, err := a.send(jidOf(sam), "after")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sam.ReceivedID(ctx, sent.ID); err != nil {
		t.Error(err)
	}
	if tries := device.Counters().Sent - before; tries != 1 {
		t.Errorf("%d tries, want 1", tries)
	}
	if _, err := a.send(jidOf(sam), "and again"); err != nil {
		t.Error(err)
	}
}
