package wa_test

import (
	"fmt"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestOfflineQueue_IsRequestedUntilItIsEmpty: the network delivers five of the stanzas that waited, and the rest only
// on request. Real accounts received 5 of 711 messages.
func TestOfflineQueue_IsRequestedUntilItIsEmpty(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.stop()
	const count = 711
	ids := make([]simnet.MessageID, count)
	var err error
	for i := range ids {
		if ids[i], err = friend.SendText(ctx, a.phone.PN(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	b := startAccount(t, network, dir)
	b.phone = a.phone
	eventually(t, "progress in the status", func() bool {
		p := b.manager.Status().CatchingUp
		return p != nil && p.Expected >= count && p.Received > 0
	})
	if err := b.device().WaitAcknowledged(ctx, ids...); err != nil {
		t.Fatalf("%v; the status shows %+v", err, b.manager.Status().CatchingUp)
	}
	stored := b.messages(jidOf(friend))
	if len(stored) != count {
		t.Fatalf("stored: got %d messages, want %d", len(stored), count)
	}
	for i, m := range stored {
		if m.ID != ids[i] {
			t.Fatalf("message %d: got %s, want %s", i, m.ID, ids[i])
		}
	}
	eventually(t, "the end of it in the status", func() bool { return b.manager.Status().CatchingUp == nil })
	if batches := b.device().Counters().OfflineBatches; batches < 4 {
		t.Errorf("requested %d times, want at least 4", batches)
	}
	if got := b.manager.Traffic().QueuedReceived; got < count {
		t.Errorf("counted %d stanzas, want at least %d", got, count)
	}
}

// held returns an account whose network does not deliver the queued messages during the next logins.
func held(t *testing.T, logins int) (a *account, ids []simnet.MessageID) {
	t.Helper()
	network := newNetwork(t)
	a = newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	if err := a.device().WaitQuiet(testContext(t)); err != nil {
		t.Fatal(err)
	}
	a.manager.SetOfflineSilence(500 * time.Millisecond) // a minute otherwise
	network.RefuseSockets(503)
	a.device().Drop()
	if err := a.device().WaitOffline(testContext(t)); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		id, err := friend.SendText(testContext(t), a.phone.PN(), fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	a.device().HoldBackOffline(logins)
	network.AcceptSockets()
	return a, ids
}

// TestOfflineQueue_AStallIsEndedByReconnecting: the network announces messages, delivers five and then nothing.
func TestOfflineQueue_AStallIsEndedByReconnecting(t *testing.T) {
	t.Parallel()
	a, ids := held(t, 1)
	logins := a.device().Counters().Logins
	if err := a.device().WaitAcknowledged(testContext(t), ids...); err != nil {
		t.Fatal(err)
	}
	if got := a.device().Counters().Logins; got > logins+2 {
		t.Errorf("%d logins, want one that stalls and one more", got-logins)
	}
	if got := a.manager.Traffic().QueueStalls; got != 1 {
		t.Errorf("counted %d stalls, want 1", got)
	}
	a.waitState(bridge.StateOpen)
}

// TestOfflineQueue_ALongStallIsShown, and does not reconnect again and again.
func TestOfflineQueue_ALongStallIsShown(t *testing.T) {
	t.Parallel()
	a, _ := held(t, 1000)
	logins := a.device().Counters().Logins
	a.waitError(bridge.StateOpen, "does not deliver them")
	eventually(t, "further stalls", func() bool { return a.manager.Traffic().QueueStalls >= 4 })
	if got := a.device().Counters().Logins; got > logins+2 {
		t.Errorf("%d logins, want two", got-logins)
	}
	a.device().HoldBackOffline(0)
	eventually(t, "the end of the queue", func() bool {
		status := a.manager.Status()
		return status.CatchingUp == nil && status.LastError == nil
	})
}
