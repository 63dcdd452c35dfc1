package wa_test

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestSend_GroupThatKnowsItsMembersInAnotherForm: the bridge queries the group, and
// sends the message again under its id.
func TestSend_GroupThatKnowsItsMembersInAnotherForm(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	for name, byNumber := range map[string]bool{"by number at first": true, "by LID at first": false} {
		group, err := a.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: name, Members: []*simnet.Phone{friend}, ByNumber: byNumber})
		if err != nil {
			t.Fatal(err)
		}
		chat := bridge.JID(group.JID().String())
		if _, err := a.send(chat, "before"); err != nil {
			t.Fatal(err)
		}
		before := a.device().Counters()
		group.SetAddressing(!byNumber)
		sent, err := a.send(chat, name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after := a.device().Counters()
		if tries, refused := after.Sent-before.Sent, after.Rejected-before.Rejected; tries != 2 || refused != 1 {
			t.Errorf("%s: %d tries, %d of them refused; want 2 and 1", name, tries, refused)
		}
		if _, err := friend.ReceivedID(ctx, sent.ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := len(a.messages(chat)); got != 2 {
			t.Errorf("%s: %d messages are stored, want 2", name, got)
		}
	}
}

// TestSend_ToDevicesThatHaveChanged: after the network has called the message
// invalid, the bridge queries the recipient's devices and sends it again under its
// id, but not a third time.
func TestSend_ToDevicesThatHaveChanged(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := a.send(jidOf(friend), "before"); err != nil {
		t.Fatal(err)
	}
	device := a.device()
	asked, before := device.Queries("usync"), device.Counters().Sent
	invalid := simnet.SendFault{Code: 479}
	device.FailSends(invalid)
	sent, err := a.send(jidOf(friend), "after")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := friend.ReceivedID(ctx, sent.ID); err != nil {
		t.Error(err)
	}
	if device.Queries("usync") == asked {
		t.Error("the recipient's devices were not asked for")
	}
	if got := device.Counters().Sent - before; got != 2 {
		t.Errorf("%d tries, want 2", got)
	}
	device.FailSends(invalid, invalid)
	if _, err := a.send(jidOf(friend), "never"); bridge.CodeOf(err) != bridge.CodeSendRefused {
		t.Errorf("refused twice: got %v, want %s", err, bridge.CodeSendRefused)
	}
}
