package simnet_test

import (
	"fmt"
	"testing"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

// TestQueue_GivesABacklogOutOnRequest: five stanzas come unasked, the rest in batches of 200, and then the end.
func TestQueue_GivesABacklogOutOnRequest(t *testing.T) {
	n := newNetwork(t, func(o *simnet.Options) { o.Window = 1000 })
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c := newCompanion(t, n)
	c.pair(own)
	c.cli.Disconnect()
	if err := c.device.WaitOffline(within(t)); err != nil {
		t.Fatal(err)
	}
	var want []types.MessageID
	for i := range 450 {
		want = append(want, mustSend(t, anna, own.PN(), fmt.Sprint("while away ", i)))
	}
	queued, _ := c.device.Queue()
	before := c.device.Counters()
	c.device.HoldBackOffline(1)
	c.connect()
	if preview := await(c, func(e *events.OfflineSyncPreview) bool { return e.Total > 5 }); preview.Total != queued {
		t.Errorf("preview of %d stanzas, want %d", preview.Total, queued)
	}
	if err := c.device.WaitCounters(within(t), func(now simnet.Counters) bool {
		return now.Acknowledged == before.Acknowledged+5 && now.OfflineBatches == before.OfflineBatches+3
	}); err != nil {
		t.Fatal(err)
	}
	if waiting, onWire := c.device.Queue(); waiting != queued-5 || onWire != 0 {
		t.Errorf("%d waiting, %d on the wire, want %d and 0", waiting, onWire, queued-5)
	}
	c.cli.Disconnect()
	if err := c.device.WaitOffline(within(t)); err != nil {
		t.Fatal(err)
	}
	c.connect()
	await(c, func(e *events.OfflineSyncCompleted) bool { return e.Count == queued-5 })
	if err := c.device.WaitAcknowledged(within(t), want...); err != nil {
		t.Fatal(err)
	}
}
