package wa_test

import (
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestInterop_IsStoredAndCannotBeAnswered: messages of a person on another messenger are a chat
// of their own, apart from a phone number with the same digits. Sends to it are refused with a
// sentence, and nothing leaves.
func TestInterop_IsStoredAndCannotBeAnswered(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	ada, err := network.NewPhone(ctx, simnet.PhoneOptions{Number: "15550100301", Name: "Ada", Messenger: 12})
	if err != nil {
		t.Fatal(err)
	}
	chat := bridge.JID("12-15550100301@interop")
	for _, text := range []string{"hello from elsewhere", "and again"} {
		if _, err := ada.SendText(ctx, a.phone.PN(), text); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both messages", func() bool { return len(a.messages(chat)) == 2 })
	list := a.messages(chat)
	if list[0].Content != "hello from elsewhere" || list[0].SenderJID != chat || list[0].FromMe || list[1].Content != "and again" {
		t.Errorf("messages %+v", list)
	}
	if c, err := a.store.Chat(ctx, chat); err != nil || c.Name != "Ada" || c.IsGroup || c.UnreadCount != 2 {
		t.Errorf("chat %+v, %v", c, err)
	}
	if _, err := a.store.Chat(ctx, "15550100301@s.whatsapp.net"); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("a chat with the phone number of the same digits: %v", err)
	}
	sent := a.device().Counters().Sent
	for name, content := range map[string]bridge.Content{"a text": bridge.Text{Text: "hi"}, "a reaction": bridge.Reaction{Target: list[0], Emoji: "👍"}} {
		_, err := a.manager.Send(ctx, bridge.Outgoing{To: chat, Content: content})
		if bridge.CodeOf(err) != bridge.CodeNotAChat || !strings.Contains(err.Error(), "another messenger") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if got := a.device().Counters().Sent; got != sent || len(a.messages(chat)) != 2 {
		t.Error("a message left, or was stored")
	}
	if err := a.device().WaitQuiet(ctx); err != nil { // everything is acknowledged
		t.Error(err)
	}
}
