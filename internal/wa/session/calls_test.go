package session

import (
	"slices"
	"testing"

	"bridged/internal/simnet"
)

// TestQuirk_CallsAreAcknowledgedWhateverTheHandlerSays: only cutting the connection
// before the handler returns prevents it.
func TestQuirk_CallsAreAcknowledgedWhateverTheHandlerSays(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.handleWith(func(string) bool { return false })
	call, err := c.friend.Call(plainContext(t), c.phone, simnet.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.waitReceived(t, call.ID())
	waitFor(t, "the acknowledgement of a call that was refused", func() bool {
		return slices.ContainsFunc(c.device.Acknowledged(), func(a simnet.Acknowledged) bool { return a.Class == "call" })
	})
}
