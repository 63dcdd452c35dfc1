package wa_test

import (
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

func TestTraffic_CountsWhatComesLeavesAndFails(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	before := a.manager.Traffic()
	if before.LastReceivedAt != nil || before.Received != 0 {
		t.Errorf("before the first: %+v", before)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := friend.SendText(ctx, a.phone.PN(), text); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both messages", func() bool { return a.manager.Traffic().Received == 2 })
	if _, err := a.send(jidOf(friend), "answer"); err != nil {
		t.Fatal(err)
	}
	a.device().FailSends(simnet.SendFault{Code: 406})
	if _, err := a.send(jidOf(friend), "refused"); bridge.CodeOf(err) != bridge.CodeSendRefused {
		t.Fatalf("got %v", err)
	}
	got := a.manager.Traffic()
	if got.LastReceivedAt == nil || time.Since(got.LastReceivedAt.Time) > time.Minute {
		t.Errorf("last received at %v", got.LastReceivedAt)
	}
	if got.PhoneSeenAt == nil || time.Since(got.PhoneSeenAt.Time) > time.Minute {
		t.Errorf("the phone was seen at %v", got.PhoneSeenAt)
	}
	got.PhoneSeenAt = nil
	got.QueuedReceived = 0 // depends on how fast the account logs in
	if got.LastReceivedAt = nil; got != (bridge.Traffic{Received: 2, Sent: 1, Failed: 1}) {
		t.Errorf("counted %+v", got)
	}
}
