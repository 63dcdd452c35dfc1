package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestKills_AtUndecryptedMessages kills the program right after its retry receipt
// for a message that it could not decrypt, while the sender is offline: the message
// is in the list, readable or not.
func TestKills_AtUndecryptedMessages(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	device := pair(t, p, owner)
	for round := range 3 {
		if err := device.WaitQuiet(within(t)); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("ROUND%d", round)
		device.HoldBack(id)
		must(friend.SendText(within(t), owner.PN(), "hard to read", simnet.WithID(id)))(t)
		friend.Disconnect()
		owner.Disconnect()
		asked := device.Counters().RetryReceipts
		device.CorruptMessages(1)
		device.Release()
		if err := device.WaitCounters(within(t), func(c simnet.Counters) bool { return c.RetryReceipts > asked }); err != nil {
			t.Fatal(err)
		}
		p.kill()
		p.start()
		p.becomes(bridge.StateOpen)
		if err := device.WaitQuiet(within(t)); err != nil {
			t.Fatal(err)
		}
		var list struct{ Messages []bridge.Message }
		p.Get(path("/api/messages/individual/%s", friend.PN())).Want(http.StatusOK).Decode(&list)
		if !slices.ContainsFunc(list.Messages, func(m bridge.Message) bool { return m.ID == id }) {
			t.Errorf("message %s was answered and is lost", id)
		}
		if err := friend.Connect(within(t)); err != nil {
			t.Fatal(err)
		}
		if err := owner.Connect(within(t)); err != nil {
			t.Fatal(err)
		}
	}
}
