package wa_test

import (
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestType_IsSeenByPhones: the account types and is available for a while; a
// message ends both, and so do a pause and the end of the connection.
func TestType_IsSeenByPhones(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	g, chat := a.group(friend, false, a.phone, other)
	if err := friend.Watch(ctx, a.phone); err != nil {
		t.Fatal(err)
	}
	set := func(in bridge.JID, state bridge.TypingState) {
		t.Helper()
		until, err := a.manager.Type(ctx, in, state)
		if err != nil || until.IsZero() != (state == bridge.TypingPaused) {
			t.Fatal(until, err)
		}
	}
	sees := func(p *simnet.Phone, in types.JID, want string) {
		t.Helper()
		if err := p.WaitTyping(ctx, in, a.phone, want); err != nil {
			t.Fatal(err)
		}
	}
	available := func(want bool) {
		t.Helper()
		if err := friend.WaitAvailable(ctx, a.phone, want); err != nil {
			t.Fatal(err)
		}
	}
	set(jidOf(friend), bridge.TypingText)
	sees(friend, a.phone.PN(), simnet.Typing)
	available(true)
	set(jidOf(friend), bridge.TypingVoice)
	sees(friend, a.phone.PN(), simnet.Recording)
	set(jidOf(friend), bridge.TypingPaused)
	sees(friend, a.phone.PN(), "")
	available(false)

	set(chat, bridge.TypingText)
	available(true)
	for _, p := range []*simnet.Phone{friend, other} {
		sees(p, g.JID(), simnet.Typing)
	}
	if _, err := a.send(chat, "done"); err != nil {
		t.Fatal(err)
	}
	available(false)
	sees(other, g.JID(), "")

	set(jidOf(friend), bridge.TypingText)
	available(true)
	a.device().Drop()
	available(false)
	sees(friend, a.phone.PN(), "")
}

// TestType_IsRefused for chats that cannot be written to.
func TestType_IsRefused(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	if _, err := a.manager.Type(testContext(t), "120363999999999999@g.us", bridge.TypingText); bridge.CodeOf(err) != bridge.CodeNotInGroup {
		t.Errorf("in a group of others: %v", err)
	}
	unpaired := startAccount(t, network, t.TempDir())
	unpaired.waitState(bridge.StateNeedsPair)
	if _, err := unpaired.manager.Type(testContext(t), jidOf(a.phone), bridge.TypingText); bridge.CodeOf(err) != bridge.CodeNotConnected {
		t.Errorf("without a connection: %v", err)
	}
}
