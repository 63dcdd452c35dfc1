package wa_test

import (
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestMentions_StrangersAreNamedAsGiven: the account's knowledge about them is not
// disclosed, in groups of either kind, in sends and in edits.
func TestMentions_StrangersAreNamedAsGiven(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	if _, err := other.SendText(ctx, a.phone.PN(), "hello"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "who Robin is", func() bool { return a.store.Canonical(lidOf(other)) == jidOf(other) })
	for _, byNumber := range []bool{false, true} {
		_, chat := a.group(friend, byNumber, a.phone)
		for _, named := range []bridge.JID{lidOf(other), jidOf(other)} {
			who := []bridge.JID{named}
			out := bridge.Outgoing{To: chat, Content: bridge.Text{Text: "ask @" + named.User()}, Mentions: who, Unseen: who}
			sent, err := a.manager.Send(ctx, out)
			if err != nil {
				t.Fatal(err)
			}
			names := func(what string, m *simnet.Received, text string) {
				t.Helper()
				content := m.Message.Message.GetExtendedTextMessage()
				if content.GetText() != text || !slices.Equal(content.GetContextInfo().GetMentionedJID(), []string{string(named)}) {
					t.Errorf("%s by number %v: %v", what, byNumber, content)
				}
			}
			received, err := friend.ReceivedID(ctx, sent.ID)
			if err != nil {
				t.Fatal(err)
			}
			names("sent", received, "ask @"+named.User())
			row := a.message(chat, sent.ID)
			if _, err := a.manager.Send(ctx, bridge.Outgoing{To: chat, Content: bridge.TextEdit{Target: row, Text: "no", Mentions: who, Unseen: who}}); err != nil {
				t.Fatal(err)
			}
			shows(t, sent.ID, simnet.Bubble{Text: "no @" + named.User(), Edited: true}, friend)
		}
	}
}
