package simnet_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

func TestQueue_WaitsForADeviceThatIsAway(t *testing.T) {
	_, own, anna, c := pair(t)
	c.cli.Disconnect()
	if err := c.device.WaitOffline(within(t)); err != nil {
		t.Fatal(err)
	}
	var want []types.MessageID
	for i := range 20 {
		want = append(want, mustSend(t, anna, own.PN(), fmt.Sprint("while away ", i)))
	}
	if waiting, onWire := c.device.Queue(); waiting < 20 || onWire != 0 {
		t.Errorf("%d waiting, %d on the wire", waiting, onWire)
	}
	c.connect()
	preview := await(c, func(e *events.OfflineSyncPreview) bool { return e.Messages > 0 })
	if preview.Messages != 20 {
		t.Errorf("preview of %d messages, want 20", preview.Messages)
	}
	await[*events.OfflineSyncCompleted](c, nil)
	if err := c.device.WaitAcknowledged(within(t), want...); err != nil {
		t.Fatal(err)
	}
	if got := messageIDs(c.device.AcknowledgedMessages()); !slices.Equal(got, want) {
		t.Errorf("acknowledged %v, want %v", got, want)
	}
}

func messageIDs(acknowledged []simnet.Acknowledged) (ids []types.MessageID) {
	for _, a := range acknowledged {
		ids = append(ids, a.ID)
	}
	return ids
}

func TestQueue_RedeliversTheUnacknowledgedInOrder(t *testing.T) {
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c := newSQLCompanion(t, n)
	// Not from the start: the welcome's messages must be accepted.
	var refuse atomic.Bool
	c.cli.AddEventHandlerWithSuccessStatus(func(event any) bool {
		_, message := event.(*events.Message)
		return !message || !refuse.Load()
	})
	c.pair(own)
	refuse.Store(true)
	want := []types.MessageID{mustSend(t, anna, own.PN(), "one"), mustSend(t, anna, own.PN(), "two"), mustSend(t, anna, own.PN(), "three")}
	c.text("three")
	if len(c.device.AcknowledgedMessages()) != 0 {
		t.Errorf("acknowledged although refused: %+v", c.device.AcknowledgedMessages())
	}
	c.cli.Disconnect()
	if err := c.device.WaitOffline(within(t)); err != nil {
		t.Fatal(err)
	}
	refuse.Store(false)
	c.connect()
	for _, text := range []string{"one", "two", "three"} {
		c.text(text)
	}
	if err := c.device.WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}
	got := c.device.AcknowledgedMessages()
	if !slices.Equal(messageIDs(got), want) || got[0].Deliveries != 2 {
		t.Errorf("acknowledged %+v", got)
	}
}

func TestQueue_KeepsToItsWindow(t *testing.T) {
	n := newNetwork(t, func(o *simnet.Options) { o.Window = 8 })
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c := newCompanion(t, n)
	c.pair(own)
	c.device.Freeze()
	for i := range 30 {
		mustSend(t, anna, own.PN(), fmt.Sprint("number ", i))
	}
	if waiting, onWire := c.device.Queue(); waiting < 30 || onWire > 8 {
		t.Errorf("%d waiting, %d on the wire, want at most 8", waiting, onWire)
	}
	c.device.Thaw()
	c.text("number 29")
	if err := c.device.WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}
}

// crowd returns contacts that have begun their sessions with the account.
func crowd(t *testing.T, n *simnet.Network, own *simnet.Phone, c *companion, size int) []*simnet.Phone {
	t.Helper()
	var contacts []*simnet.Phone
	for i := range size {
		p := newPhone(t, n, fmt.Sprint(4915100000100+i), fmt.Sprint("Contact ", i))
		mustSend(t, p, own.PN(), fmt.Sprint("hello from ", i))
		c.text(fmt.Sprint("hello from ", i))
		contacts = append(contacts, p)
	}
	return contacts
}

// expectBurst checks that every message came once, and each sender's in order.
func (c *companion) expectBurst(count, senders int) {
	c.t.Helper()
	next := make([]int, senders)
	for range count {
		m := await(c, func(m *events.Message) bool { return strings.HasPrefix(m.Message.GetConversation(), "burst ") })
		i, err := strconv.Atoi(strings.TrimPrefix(m.Message.GetConversation(), "burst "))
		if err != nil {
			c.t.Fatal(err)
		}
		if share := i % senders; i != share+next[share]*senders {
			c.t.Fatalf("message %d came out of order", i)
		}
		next[i%senders]++
	}
}

func burstText(i int) string { return fmt.Sprint("burst ", i) }

func TestBurst_ComesOnceAndInOrder(t *testing.T) {
	count := longtest.Else(200, 1000)
	n, own, _, c := pair(t)
	contacts := crowd(t, n, own, c, 4)
	ids, err := simnet.Burst(t.Context(), contacts, own.PN(), count, burstText)
	if err != nil {
		t.Fatal(err)
	}
	if err = c.device.WaitAcknowledged(within(t), ids...); err != nil {
		t.Fatal(err)
	}
	c.expectBurst(count, len(contacts))
}

func TestBurst_InAGroupComesOnceAndInOrder(t *testing.T) {
	count := longtest.Else(100, 400)
	n, own, _, c := pair(t)
	contacts := crowd(t, n, own, c, 3)
	g := newGroup(t, own, simnet.GroupOptions{Subject: "Crowd", Members: contacts})
	if _, err := simnet.Burst(t.Context(), contacts, g.JID(), count, burstText); err != nil {
		t.Fatal(err)
	}
	c.expectBurst(count, len(contacts))
	if err := n.WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}
	// The members began their sessions with each other all at once, and retries
	// repair the conflicts.
	for i, p := range contacts {
		for j := range count {
			if j%len(contacts) != i {
				mustReceive(t, p, burstText(j))
			}
		}
	}
}
