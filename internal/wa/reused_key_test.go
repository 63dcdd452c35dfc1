package wa_test

import (
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestReusedKey_IsAskedForAgain: a message whose sender used a key a second time
// used to be acknowledged and dropped without a trace.
func TestReusedKey_IsAskedForAgain(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Club", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	for to, chat := range map[types.JID]bridge.JID{a.phone.PN(): jidOf(friend), group.JID(): bridge.JID(group.JID().String())} {
		say := func(text string) {
			t.Helper()
			if _, err := friend.SendText(ctx, to, text, simnet.WithID(text)); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{"ONE", "TWO"} { // each message begins the session until both sides have answered
			say(text)
			eventually(t, text, func() bool { return isStored(a, chat, text) })
		}
		if _, err := a.send(chat, "answer"); err != nil {
			t.Fatal(err)
		}
		if _, err := friend.ReceivedText(ctx, "answer"); err != nil {
			t.Fatal(err)
		}
		say("THREE")
		eventually(t, "THREE", func() bool { return isStored(a, chat, "THREE") })
		if err := friend.Rewind(func() error { _, err := friend.SendText(ctx, to, "FOUR", simnet.WithID("FOUR")); return err }); err != nil {
			t.Fatal(err)
		}
		eventually(t, "FOUR", func() bool { return isStored(a, chat, "FOUR") })
		say("REUSED")
		say("BEHIND")
		eventually(t, "the message behind it", func() bool { return isStored(a, chat, "BEHIND") })
		eventually(t, "the one whose key was used before", func() bool {
			m, err := a.store.Message(ctx, chat, "REUSED")
			return err == nil && m.Content == "REUSED"
		})
		friend.Forget()
	}
}
