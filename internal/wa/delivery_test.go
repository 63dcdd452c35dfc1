package wa_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestSend_WaitsLongerForManyDevices: the network is slow with a large group, and
// the message is sent once.
func TestSend_WaitsLongerForManyDevices(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	a.manager.SetWaits(200*time.Millisecond, time.Minute, 50*time.Millisecond)
	group, _ := a.largeGroup(network, 150)
	network.SlowGroups(4 * time.Millisecond) // three times the wait for few devices
	sent := a.device().Counters().Sent
	if _, err := a.send(group, "to everybody"); err != nil {
		t.Fatal(err)
	}
	if got := a.device().Counters().Sent - sent; got != 1 {
		t.Errorf("the message went out %d times, want once", got)
	}
}

// TestSend_IsRepeatedOnce if the network does not answer; then the outcome is
// unknown.
func TestSend_IsRepeatedOnce(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	a.manager.SetWaits(time.Second, time.Minute, 0)
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := a.send(jidOf(friend), "before"); err != nil {
		t.Fatal(err)
	}
	friend.Disconnect()
	if err := friend.Device().WaitOffline(ctx); err != nil {
		t.Fatal(err)
	}
	device := a.device()
	sent := device.Counters().Sent
	lost := simnet.SendFault{LoseAck: true}
	device.FailSends(lost, lost, lost)
	if _, err := a.send(jidOf(friend), "anybody?"); bridge.CodeOf(err) != bridge.CodeSendTimeout {
		t.Errorf("without an answer: got %v, want %s", err, bridge.CodeSendTimeout)
	}
	if got := device.Counters().Sent - sent; got != 2 {
		t.Errorf("the message went out %d times, want twice", got)
	}
	list := a.messages(jidOf(friend))
	if last := list[len(list)-1]; last.Status == nil || *last.Status != bridge.DeliveryPending {
		t.Errorf("the message's status is %v, want %s", last.Status, bridge.DeliveryPending)
	}
	if err := friend.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the receipt", func() bool { return a.delivered(jidOf(friend), "anybody?") })
	if got := len(a.messages(jidOf(friend))); got != 2 {
		t.Errorf("%d messages are stored, want 2", got)
	}
}

// TestSend_AReceiptEndsTheWait for a lost acknowledgement: the wait itself would
// outlast the test.
func TestSend_AReceiptEndsTheWait(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	a.manager.SetWaits(time.Hour, 2*time.Hour, 0)
	friend := newPhone(t, network, "15550100301", "Sam")
	sent := a.device().Counters().Sent
	a.device().FailSends(simnet.SendFault{LoseAck: true})
	if _, err := a.send(jidOf(friend), "got it?"); err != nil {
		t.Fatal(err)
	}
	if got := a.device().Counters().Sent - sent; got != 1 {
		t.Errorf("the message went out %d times, want once", got)
	}
}

// TestSend_WaitingForASlowGroupHoldsUpNoOther: whatsmeow alone sends nothing while
// it waits for an acknowledgement, which takes long for a large group.
func TestSend_WaitingForASlowGroupHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, _ := a.largeGroup(network, 40)
	for _, chat := range []bridge.JID{group, jidOf(friend)} {
		if _, err := a.send(chat, "before"); err != nil {
			t.Fatal(err)
		}
	}
	a.manager.SetWaits(time.Hour, 2*time.Hour, 0)
	network.SlowGroups(time.Minute) // for each device
	sent := a.device().Counters().Sent
	answered := make(chan error, 1)
	go func() {
		_, err := a.send(group, "slow")
		answered <- err
	}()
	if err := a.device().WaitCounters(ctx, func(c simnet.Counters) bool { return c.Sent > sent }); err != nil {
		t.Fatal(err)
	}
	if _, err := a.send(jidOf(friend), "meanwhile"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-answered:
		t.Errorf("the group's message was not waited for: %v", err)
	default:
	}
	a.stop()
	if err := <-answered; bridge.CodeOf(err) != bridge.CodeNotConnected {
		t.Errorf("a send that the stop ended: got %v, want %s", err, bridge.CodeNotConnected)
	}
}

// TestSend_ARepeatedOneIsNoWarning: "send interrupted" used to be a warning even if
// the next attempt succeeded.
func TestSend_ARepeatedOneIsNoWarning(t *testing.T) {
	t.Parallel()
	network, log := newNetwork(t), new(lockedBuffer)
	a := startAccountLogging(t, network, t.TempDir(), zerolog.New(log), plainly)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	a.manager.SetWaits(time.Second, time.Minute, 0)
	friend := newPhone(t, network, "15550100301", "Sam")
	friend.Disconnect()
	if err := friend.Device().WaitOffline(testContext(t)); err != nil {
		t.Fatal(err)
	}
	a.device().FailSends(simnet.SendFault{LoseAck: true})
	if _, err := a.send(jidOf(friend), "got it?"); err != nil {
		t.Fatal(err)
	}
	interrupted := 0
	for line := range strings.Lines(log.take()) {
		if strings.Contains(line, "send interrupted") {
			interrupted++
		}
		if strings.Contains(line, `"msg_id"`) && strings.Contains(line, `"level":"warn"`) {
			t.Errorf("a warning: %s", line)
		}
	}
	if interrupted != 1 {
		t.Errorf("the send was interrupted %d times, want once", interrupted)
	}
}
