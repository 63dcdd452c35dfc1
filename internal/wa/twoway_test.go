package wa_test

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

var twoWayRuns = flag.Int("twoway.runs", 1, "runs of the two-way test; 20 is the goal's figure")

// TestTwoWayTraffic_LosesNothing sends 200 messages each way with the same
// contacts at the same time. whatsmeow without the Signal lock loses some of them
// (docs/architecture.md).
func TestTwoWayTraffic_LosesNothing(t *testing.T) {
	for run := range *twoWayRuns {
		t.Run(fmt.Sprintf("run %d", run+1), func(t *testing.T) { twoWay(t, 4, longtest.Else(25, 50)) })
	}
}

func twoWay(t *testing.T, contacts, each int) {
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	var wg sync.WaitGroup
	phones := make([]*simnet.Phone, contacts)
	for i := range phones {
		phones[i] = newPhone(t, network, fmt.Sprintf("1555010030%d", i), fmt.Sprintf("Contact %d", i))
		wg.Go(func() { speak(ctx, t, a, phones[i], each) })
		wg.Go(func() { answer(t, a, phones[i], each) })
	}
	wg.Wait()
	allHeard(ctx, t, a, phones, 2*each, each)
}

// allHeard waits until a number of messages with each contact is stored, and checks
// that all could be decrypted and that the contacts got theirs.
func allHeard(ctx context.Context, t *testing.T, a *account, phones []*simnet.Phone, stored, down int) {
	t.Helper()
	for _, phone := range phones {
		eventually(t, "all of the contact's messages stored", func() bool { return len(a.messages(jidOf(phone))) == stored })
		for n := range down {
			if _, err := phone.ReceivedText(ctx, fmt.Sprintf("down %d", n)); err != nil {
				t.Errorf("the contact did not get message %d: %v", n, err)
			}
		}
		for _, m := range a.messages(jidOf(phone)) {
			if m.MessageType == bridge.TypeUndecryptable {
				t.Errorf("message %s could not be decrypted", m.ID)
			}
		}
	}
}

func speak(ctx context.Context, t *testing.T, a *account, phone *simnet.Phone, count int) {
	for n := range count {
		if _, err := phone.SendText(ctx, a.phone.PN(), fmt.Sprintf("up %d", n)); err != nil {
			t.Errorf("the contact's message %d: %v", n, err)
		}
	}
}

func answer(t *testing.T, a *account, phone *simnet.Phone, count int) {
	for n := range count {
		if _, err := a.send(jidOf(phone), fmt.Sprintf("down %d", n)); err != nil {
			t.Errorf("the account's message %d: %v", n, err)
		}
	}
}

// TestTwoWayTraffic_WithALargeGroup: members write to the account while it writes
// to a group for which it encrypts without the lock, so that decryptions sometimes
// overtake it. Nothing is lost.
func TestTwoWayTraffic_WithALargeGroup(t *testing.T) {
	t.Parallel()
	const contacts = 3
	each := longtest.Else(10, 30)
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	phones := make([]*simnet.Phone, contacts)
	for i := range phones {
		phones[i] = newPhone(t, network, fmt.Sprintf("1555010040%d", i), fmt.Sprintf("Contact %d", i))
		if _, err := phones[i].SendText(ctx, a.phone.PN(), "up first"); err != nil {
			t.Fatal(err)
		}
	}
	crowd, err := network.NewCrowd(simnet.CrowdOptions{FirstNumber: "15552000000", People: 100})
	if err != nil {
		t.Fatal(err)
	}
	created, err := a.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "Everybody", Members: phones, Crowd: crowd})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.device().WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	group := bridge.JID(created.JID().String())
	if _, err := a.send(group, "down first"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range each {
			if _, err := a.send(group, fmt.Sprintf("down %d", n)); err != nil {
				t.Errorf("the account's message %d: %v", n, err)
			}
		}
	})
	for _, phone := range phones {
		wg.Go(func() { speak(ctx, t, a, phone, each) })
	}
	wg.Wait()
	allHeard(ctx, t, a, phones, each+1, each)
}
