package session

import (
	"slices"
	"testing"
)

// TestQuirk_AStanzaIsAnsweredAndLoggedAfterItsHandler: package offline takes the answer that whatsmeow logs before it
// writes it for the end of the stanza's handling.
func TestQuirk_AStanzaIsAnsweredAndLoggedAfterItsHandler(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	answered := func(id string) bool {
		return slices.ContainsFunc(c.log.all(), func(line logLine) bool {
			node, ok := written("whatsmeow/"+line.module, line.args)
			return ok && node.Attrs["id"] == id && (node.Tag == "ack" || node.Tag == "receipt")
		})
	}
	release := make(chan struct{})
	c.handleWith(func(string) bool {
		<-release
		return true
	})
	id := c.say(t, "hello")
	c.waitReceived(t, id)
	if answered(id) {
		t.Error("answered before its handler has returned")
	}
	close(release)
	waitFor(t, "the answer in the log", func() bool { return answered(id) })
}
