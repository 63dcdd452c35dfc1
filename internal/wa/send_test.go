package wa_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestSend_StoreFailing: a message that cannot be stored is not sent, and one that
// was sent stays sent, whatever happens to the store.
func TestSend_StoreFailing(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	device := a.device()
	if _, err := a.send(jidOf(friend), "before"); err != nil {
		t.Fatal(err)
	}
	// A receipt that cannot be stored would end the connection.
	eventually(t, "the first receipt", func() bool { return a.delivered(jidOf(friend), "before") })
	sent := device.Counters().Sent
	full := bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full").Because(errors.New("drill"))

	a.fault.Set(full)
	if _, err := a.send(jidOf(friend), "never"); bridge.CodeOf(err) != bridge.CodeStorageUnavailable {
		t.Errorf("send without a store: %v", err)
	}
	if got := device.Counters().Sent; got != sent {
		t.Errorf("%d messages left without being stored", got-sent)
	}
	a.fault.Set(nil)

	friend.Disconnect()
	if err := friend.Device().WaitOffline(ctx); err != nil {
		t.Fatal(err)
	}
	device.FailSends(simnet.SendFault{AckDelay: 300 * time.Millisecond})
	answered := make(chan error, 1)
	go func() {
		_, err := a.send(jidOf(friend), "out already")
		answered <- err
	}()
	if err := device.WaitCounters(ctx, func(c simnet.Counters) bool { return c.Sent > sent }); err != nil {
		t.Fatal(err)
	}
	a.fault.Set(full)
	if err := <-answered; err != nil {
		t.Errorf("a message that the network has accepted: %v", err)
	}
	a.fault.Set(nil)
	if err := friend.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := friend.ReceivedText(ctx, "out already"); err != nil {
		t.Error(err)
	}
	eventually(t, "the second receipt", func() bool { return a.delivered(jidOf(friend), "out already") })
}

// delivered reports whether an own message of a chat has been delivered.
func (a *account) delivered(chat bridge.JID, text string) bool {
	a.t.Helper()
	return slices.ContainsFunc(a.messages(chat), func(m bridge.Message) bool {
		return m.Content == text && m.Status != nil && *m.Status == bridge.DeliveryDelivered
	})
}

// TestSend_CommitsOnceToTheSession, to one person and to a group: each commit waits
// for the disk.
func TestSend_CommitsOnceToTheSession(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	group, crowd := a.largeGroup(network, 20)
	person := bridge.JID(crowd.PNs()[0].String())
	commits := countCommits(t, filepath.Join(dir, "session.db"))
	for _, to := range []bridge.JID{group, person} {
		if _, err := a.send(to, "the first begins the sessions"); err != nil {
			t.Fatal(err)
		}
		fewest := int64(math.MaxInt64)
		for range 5 { // earlier received messages are cleared meanwhile
			before := commits.Load()
			if _, err := a.send(to, "later"); err != nil {
				t.Fatal(err)
			}
			fewest = min(fewest, commits.Load()-before)
		}
		if fewest != 1 {
			t.Errorf("a message to %s: %d commits, want 1", to, fewest)
		}
	}
}
