package wa_test

import (
	"path/filepath"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// largeGroup creates a group of the account's with that many devices of others, all
// switched off, and waits until the bridge knows it.
func (a *account) largeGroup(network *simnet.Network, devices int) (bridge.JID, *simnet.Crowd) {
	a.t.Helper()
	ctx := testContext(a.t)
	crowd, err := network.NewCrowd(simnet.CrowdOptions{FirstNumber: "15552000000", People: devices / 2, Devices: 2})
	if err != nil {
		a.t.Fatal(err)
	}
	group, err := a.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "Everybody", Crowd: crowd})
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.device().WaitQuiet(ctx); err != nil {
		a.t.Fatal(err)
	}
	return bridge.JID(group.JID().String()), crowd
}

// keysTaken returns the highest number of keys taken from one device, and the
// number of devices that any were taken from.
func keysTaken(crowd *simnet.Crowd) (most, devices int) {
	for _, d := range crowd.Devices() {
		taken := d.Counters().KeysTaken
		most = max(most, taken)
		if taken > 0 {
			devices++
		}
	}
	return most, devices
}

// TestSend_FirstToALargeGroupOverASlowDisk: a session with every device is begun
// and stored, however slow the disk, and takes one key of each device.
func TestSend_FirstToALargeGroupOverASlowDisk(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	members := longtest.Else(260, 800) // more than are asked for at once
	group, crowd := a.largeGroup(network, members)
	slowDisk(t, filepath.Join(dir, "session.db"), 5*time.Millisecond)
	for _, text := range []string{"first", "second"} {
		if _, err := a.send(group, text); err != nil {
			t.Fatalf("the %s message: %v", text, err)
		}
	}
	if most, devices := keysTaken(crowd); most != 1 || devices != members {
		t.Errorf("the network gave out up to %d keys of a device, and any of %d devices; want 1 of each of %d", most, devices, members)
	}
	for _, d := range crowd.Devices() {
		if waiting, _ := d.Queue(); waiting == 0 {
			t.Fatalf("nothing waits for %s", d.JID())
		}
	}
}

// TestSend_ToALargeGroupGoesOnWhereItWasRefused: sessions already begun are kept,
// so no device loses a second key.
func TestSend_ToALargeGroupGoesOnWhereItWasRefused(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	group, crowd := a.largeGroup(network, 260)
	device := a.device()
	sent := device.Counters().Sent
	device.FailQueries(simnet.IQFault{Namespace: "encrypt", Tag: "key", Code: 429, Text: "rate-overlimit", Skip: 1, Times: 1})
	if _, err := a.send(group, "refused"); bridge.CodeOf(err) != bridge.CodeRateLimited {
		t.Errorf("while keys are refused: got %v, want %s", err, bridge.CodeRateLimited)
	}
	if got := device.Counters().Sent; got != sent {
		t.Errorf("%d messages left for a part of the group", got-sent)
	}
	if _, devices := keysTaken(crowd); devices == 0 || devices == 260 {
		t.Fatalf("keys of %d devices were given out, want some", devices)
	}
	if _, err := a.send(group, "sent"); err != nil {
		t.Fatal(err)
	}
	if most, devices := keysTaken(crowd); most != 1 || devices != 260 {
		t.Errorf("the network gave out up to %d keys of a device, and any of %d devices; want 1 of each of 260", most, devices)
	}
}

// TestSend_ReceivesWhileTheNetworkLooksForKeys: a send that waits for the keys of
// many devices does not delay incoming messages.
func TestSend_ReceivesWhileTheNetworkLooksForKeys(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := friend.SendText(ctx, a.phone.PN(), "before"); err != nil {
		t.Fatal(err)
	}
	group, crowd := a.largeGroup(network, 40)
	network.SlowGroups(time.Minute)
	answered := make(chan error, 1)
	go func() {
		_, err := a.send(group, "slow")
		answered <- err
	}()
	eventually(t, "the query for keys", func() bool {
		_, devices := keysTaken(crowd)
		return devices > 0
	})
	if _, err := friend.SendText(ctx, a.phone.PN(), "meanwhile"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what came meanwhile", func() bool { return len(a.messages(jidOf(friend))) == 2 })
	select {
	case err := <-answered:
		t.Errorf("the send did not wait for the keys: %v", err)
	default:
	}
	a.stop()
	if err := <-answered; bridge.CodeOf(err) != bridge.CodeNotConnected {
		t.Errorf("a send that the stop ended: got %v, want %s", err, bridge.CodeNotConnected)
	}
}

// BenchmarkSend_FirstToALargeGroup measures a first send to a group of 800 devices,
// with 5 ms added to each write to session.db, and the send after it. Run it with
// -benchtime 1x.
func BenchmarkSend_FirstToALargeGroup(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		network := newNetwork(b)
		dir := b.TempDir()
		a := newAccountIn(b, network, dir)
		group, _ := a.largeGroup(network, 800)
		slowDisk(b, filepath.Join(dir, "session.db"), 5*time.Millisecond)
		b.StartTimer()
		for _, which := range []string{"first", "next"} {
			began := time.Now()
			if _, err := a.send(group, which); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/"+which)
		}
		b.StopTimer()
		a.stop()
		b.StartTimer()
	}
}
