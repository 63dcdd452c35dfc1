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

// TestMoved_TheNetworkAnnouncesIt: the message arrives at the new account, once, and the
// chat stays one, whatever has changed.
func TestMoved_TheNetworkAnnouncesIt(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]simnet.Move{
		"another LID":                       {},
		"another number":                    {Number: "15550100399", KeepLID: true},
		"another number, named with LIDs":   {Number: "15550100399", KeepLID: true, WithLIDs: true},
		"another number and another LID":    {Number: "15550100399", WithLIDs: true},
		"another number, LIDs are not told": {Number: "15550100399"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, network := testContext(t), newNetwork(t)
			a := newAccount(t, network)
			old := newPhone(t, network, "15550100301", "Sam")
			a.hearFrom(old, "before")
			a.sendStored(jidOf(old), "to the old account")
			sam := move(t, old, m)
			eventually(t, "the new identity", func() bool { return a.store.Canonical(jidOf(old)) == jidOf(sam) })
			if err := a.device().WaitQuiet(ctx); err != nil {
				t.Fatal(err)
			}
			before := a.device().Counters().Sent
			sent, err := a.send(jidOf(old), "to the new account") // by the old number, as the caller knows it
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sam.ReceivedID(ctx, sent.ID); err != nil {
				t.Error(err)
			}
			if tries := a.device().Counters().Sent - before; tries != 1 {
				t.Errorf("%d tries, want 1", tries)
			}
			a.hearFrom(sam, "after")
			page, err := a.store.Chats(ctx, bridge.ChatQuery{Type: bridge.ChatsIndividual, Limit: 10})
			if err != nil || len(page.Items) != 1 || page.Items[0].JID != jidOf(sam) {
				t.Errorf("chats: %+v, %v", page.Items, err)
			}
			if got := a.messages(lidOf(old)); len(got) != 4 {
				t.Errorf("%d messages in the chat, want 4", len(got))
			}
		})
	}
}

// hearFrom waits until a person's message is stored.
func (a *account) hearFrom(from *simnet.Phone, text string) {
	a.t.Helper()
	if _, err := from.SendText(testContext(a.t), a.phone.PN(), text); err != nil {
		a.t.Fatal(err)
	}
	eventually(a.t, text, func() bool {
		stored := a.messages(jidOf(from))
		return len(stored) > 0 && stored[len(stored)-1].Content == text
	})
}

// TestMoved_AMemberOfAGroup: the place in the group follows with its rights, and the next
// message is encrypted for the new account, in one try.
func TestMoved_AMemberOfAGroup(t *testing.T) {
	t.Parallel()
	for name, byNumber := range map[string]bool{"by LID": false, "by number": true} {
		for what, m := range map[string]simnet.Move{
			"another LID": {}, "another number": {Number: "15550100399", KeepLID: true}, "both": {Number: "15550100399", WithLIDs: true},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				ctx, network := testContext(t), newNetwork(t)
				a := newAccount(t, network)
				old := newPhone(t, network, "15550100301", "Sam")
				_, jid := a.group(old, byNumber, a.phone)
				a.sendStored(jid, "before")
				sam := move(t, old, m)
				if err := a.device().WaitQuiet(ctx); err != nil {
					t.Fatal(err)
				}
				g, err := a.store.Group(ctx, jid)
				if err != nil || len(g.Participants) != 2 || g.Participants[0].JID != jidOf(sam) || g.Participants[0].LID != lidOf(sam) || !g.Participants[0].IsSuperAdmin {
					t.Errorf("the group: %+v, %v", g.Participants, err)
				}
				tries := func() int { c := a.device().Counters(); return c.Sent - c.Resent }
				before := tries()
				sent, err := a.send(jid, "after")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := sam.ReceivedID(ctx, sent.ID); err != nil {
					t.Error(err)
				}
				// A phone that continues with its keys may ask for a message that it got before it was ready.
				if tries := tries() - before; tries != 1 {
					t.Errorf("%d tries, want 1", tries)
				}
			})
		}
	}
}

// TestMoved_TheOldNumberIsSomebodyElses: a message to it goes to whoever has it now, and not
// to the person who had it.
func TestMoved_TheOldNumberIsSomebodyElses(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	a := newAccount(t, network)
	old := newPhone(t, network, "15550100301", "Sam")
	a.sendStored(jidOf(old), "to Sam")
	sam := move(t, old, simnet.Move{Number: "15550100399", WithLIDs: true})
	if err := a.device().WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	kim := newPhone(t, network, old.Number(), "Kim")
	sent, err := a.send(jidOf(kim), "to Kim")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kim.ReceivedID(ctx, sent.ID); err != nil {
		t.Error(err)
	}
	for chat, want := range map[bridge.JID]int{jidOf(sam): 1, jidOf(kim): 1, lidOf(old): 1} {
		if got := len(a.messages(chat)); got != want {
			t.Errorf("%d messages in the chat %s, want %d", got, chat, want)
		}
	}
}
