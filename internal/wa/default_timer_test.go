package wa_test

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestDefaultTimer_NewChatsBeginWithIt: the account's default timer of disappearing messages is
// read at the login and follows the phone's changes, also after a restart. The first message of
// a chat that the account begins carries it, and so do those after it. Chats that there are,
// and other people's defaults, change nothing.
func TestDefaultTimer_NewChatsBeginWithIt(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	old, friend := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	second, third := newPhone(t, network, "15550100303", "Pat"), newPhone(t, network, "15550100304", "Lou")
	a := startAccount(t, network, dir)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.phone.SetDefaultTimer(86400) // before the pairing: only a query has it
	a.pair()
	if _, err := old.SendText(ctx, a.phone.PN(), "hello"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a chat that another has begun", func() bool { return len(a.messages(jidOf(old))) == 1 })
	known := func(a *account, want string) {
		t.Helper()
		eventually(t, "the default timer "+want, func() bool {
			got, err := a.store.Setting(ctx, "default_timer")
			return err == nil && len(got) > len(want) && got[:len(want)+1] == want+" "
		})
	}
	timer := func(a *account, to *simnet.Phone) *waE2E.ContextInfo {
		t.Helper()
		sent, err := a.send(jidOf(to), "hello")
		if err != nil {
			t.Fatal(err)
		}
		got, err := to.ReceivedID(ctx, sent.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.Message.Message.GetExtendedTextMessage().GetContextInfo()
	}
	known(a, "86400")
	info := timer(a, friend)
	if mode := info.GetDisappearingMode(); info.GetExpiration() != 86400 || info.GetEphemeralSettingTimestamp() == 0 ||
		mode.GetTrigger() != waE2E.DisappearingMode_ACCOUNT_SETTING || mode.GetInitiator() != waE2E.DisappearingMode_INITIATED_BY_ME || !mode.GetInitiatedByMe() {
		t.Errorf("the first message: %v", info)
	}
	if set, err := a.store.ChatTimer(ctx, jidOf(friend)); err != nil || set.Seconds != 86400 {
		t.Errorf("the chat's timer: %+v, %v", set, err)
	}
	if list := a.messages(jidOf(friend)); len(list) != 1 || list[0].ExpiresAt == nil {
		t.Errorf("the message does not expire: %+v", list)
	}
	if info := timer(a, friend); info.GetExpiration() != 86400 {
		t.Errorf("the second message: %v", info)
	}
	if info := timer(a, old); info.GetExpiration() != 0 {
		t.Errorf("in a chat that there is: %v", info)
	}
	old.SetDefaultTimer(7776000)
	a.phone.SetDefaultTimer(604800)
	known(a, "604800")
	a.stop()

	b := startAccount(t, network, dir)
	b.phone = a.phone
	b.waitState(bridge.StateOpen)
	if info := timer(b, second); info.GetExpiration() != 604800 {
		t.Errorf("after a restart: %v", info)
	}
	b.phone.SetDefaultTimer(0)
	known(b, "0")
	if info := timer(b, third); info.GetExpiration() != 0 {
		t.Errorf("after the default has ended: %v", info)
	}
}
