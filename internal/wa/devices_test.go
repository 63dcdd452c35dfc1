package wa_test

import (
	"path/filepath"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestDevices_TheFirstMessageReachesANewDevice of a contact and of a member of a
// group, however the previous one was sent.
func TestDevices_TheFirstMessageReachesANewDevice(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	destinations := []bridge.JID{jidOf(friend), jidOf(friend)}
	for name, byNumber := range map[string]bool{"by LID": false, "by number": true} {
		group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: name, ByNumber: byNumber, Members: []*simnet.Phone{a.phone}})
		if err != nil {
			t.Fatal(err)
		}
		destinations = append(destinations, bridge.JID(group.JID().String()))
	}
	for _, to := range destinations {
		if _, err := a.send(to, "before"); err != nil {
			t.Fatal(err)
		}
		linked, err := friend.LinkBare(ctx, filepath.Join(t.TempDir(), "bare.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = linked.Close() })
		if err := a.device().WaitQuiet(ctx); err != nil {
			t.Fatal(err)
		}
		sent, err := a.send(to, "after")
		if err != nil {
			t.Fatal(err)
		}
		if err := linked.WaitAcknowledged(ctx, sent.ID); err != nil {
			t.Fatalf("to %s: %v", to, err)
		}
	}
}
