package session

import (
	"slices"
	"strings"
	"testing"

	"bridged/internal/simnet"
)

// TestQuirk_NotDecryptedIsLoggedBeforeItIsAnswered, with its id, for any failure;
// and the whole stanza was logged before.
func TestQuirk_NotDecryptedIsLoggedBeforeItIsAnswered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		format string
		send   func(t *testing.T, c *plainClient) string
	}{
		"damaged": {logNotDecrypted, func(t *testing.T, c *plainClient) string {
			c.device.CorruptMessages(1)
			return c.say(t, "not to be read")
		}},
		"not for this device": {logUnavailable, func(t *testing.T, c *plainClient) string {
			id, err := c.friend.SendText(plainContext(t), c.phone.PN(), "only for the phone", simnet.HiddenViewOnce())
			if err != nil {
				t.Fatal(err)
			}
			return id
		}},
		"a panic": {logDecryptionPanics, func(t *testing.T, c *plainClient) string {
			c.store.interfere(func() error { panic("drill") }, nil)
			return c.say(t, "not to be read")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newPlainClient(t)
			c.log.forget()
			id := test.send(t, c)
			waitFor(t, "the acknowledgement", func() bool { return c.acknowledged(id) || c.device.Counters().RetryReceipts > 0 })
			lines := c.log.all()
			told := slices.IndexFunc(lines, func(line logLine) bool {
				failure, ok := failedDecryption(line.format, line.args)
				return ok && line.format == test.format && failure.id == id && failure.panicked == (name == "a panic")
			})
			came := slices.IndexFunc(lines, func(line logLine) bool {
				node, ok := received("whatsmeow/"+line.module, line.args)
				return ok && node.Tag == "message" && node.Attrs["id"] == id
			})
			answered := slices.IndexFunc(lines, func(line logLine) bool {
				return line.module == "Send" && strings.Contains(line.text, id)
			})
			if came < 0 || told < came || answered >= 0 && answered < told {
				t.Errorf("received in line %d, reported in line %d, answered in line %d", came, told, answered)
			}
		})
	}
}
