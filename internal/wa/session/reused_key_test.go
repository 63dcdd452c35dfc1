package session

import (
	"testing"

	"bridged/internal/simnet"
)

// TestQuirk_AMessageWithAReusedKeyIsDropped by whatsmeow, which acknowledges it
// without an event: lockedStore turns it into an undecryptable one.
func TestQuirk_AMessageWithAReusedKeyIsDropped(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	c.waitReceived(t, c.say(t, "begins the session"))
	if _, err := c.SendMessage(ctx, c.friend.PN(), text("answers")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.friend.ReceivedText(ctx, "answers"); err != nil {
		t.Fatal(err)
	}
	c.waitReceived(t, c.say(t, "goes on"))
	err := c.friend.Rewind(func() error {
		c.waitReceived(t, c.say(t, "uses a key"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.friend.SendText(ctx, c.phone.PN(), "uses it again", simnet.WithID("REUSED")); err != nil {
		t.Fatal(err)
	}
	c.log.waitWarning(t, "Ignoring message %s from %s: %v")
	if err := c.device.WaitAcknowledged(ctx, "REUSED"); err != nil {
		t.Error(err)
	}
}
