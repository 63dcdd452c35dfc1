package harness

import (
	"testing"

	"bridged/internal/simnet"
)

// Stored waits until messages are stored.
func (c *Cast) Stored(t *testing.T, ids ...simnet.MessageID) {
	t.Helper()
	if err := c.Device.WaitAcknowledged(Within(t), ids...); err != nil {
		t.Fatal(err)
	}
}
