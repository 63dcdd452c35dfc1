package crashes

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestKills_AtUndecryptedMessages kills the program right after its retry receipt
// for a message that it could not decrypt, while the sender is offline: the message
// is in the list, readable or not.
func TestKills_AtUndecryptedMessages(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	device := Pair(t, p, owner)
	for round := range 3 {
		if err := device.WaitQuiet(Within(t)); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("ROUND%d", round)
		device.HoldBack(id)
		Must(friend.SendText(Within(t), owner.PN(), "hard to read", simnet.WithID(id)))(t)
		friend.Disconnect()
		owner.Disconnect()
		asked := device.Counters().RetryReceipts
		device.CorruptMessages(1)
		device.Release()
		if err := device.WaitCounters(Within(t), func(c simnet.Counters) bool { return c.RetryReceipts > asked }); err != nil {
			t.Fatal(err)
		}
		p.Kill()
		p.Start()
		p.Becomes(bridge.StateOpen)
		if err := device.WaitQuiet(Within(t)); err != nil {
			t.Fatal(err)
		}
		var list struct{ Messages []bridge.Message }
		p.Get(Path("/api/messages/individual/%s", friend.PN())).Want(http.StatusOK).Decode(&list)
		if !slices.ContainsFunc(list.Messages, func(m bridge.Message) bool { return m.ID == id }) {
			t.Errorf("message %s was answered and is lost", id)
		}
		if err := friend.Connect(Within(t)); err != nil {
			t.Fatal(err)
		}
		if err := owner.Connect(Within(t)); err != nil {
			t.Fatal(err)
		}
	}
}
