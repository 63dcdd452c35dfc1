package shell

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Every message is printed once, in order, across lost connections and restarts of
// the bridge; an interrupt ends the command with success.
func TestShell_TailFollows(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, OwnAddress())
	told := func(by *simnet.Phone, text string) {
		t.Helper()
		if err := c.Device.WaitAcknowledged(Within(t), Say(t, by, c.Owner.PN(), text)); err != nil {
			t.Fatal(err)
		}
	}
	told(c.Anna, "one")
	told(c.Ben, "of another")
	proxy := newLossyProxy(t, c.Bridge.Address, "/api/events")
	tail := c.Bridge.Begin([]string{"BRIDGE_URL=" + proxy.URL}, "tail", "--since", "0", "--chat", "Anna Amsel")
	people := c.Bridge.Begin(nil, "tail", "--since", "1h", "--json")
	want := func(text string) {
		t.Helper()
		if line := tail.Line(); !strings.HasSuffix(line, "  Anna Amsel  "+text) {
			t.Errorf("printed %q, want %s", line, text)
		}
		for {
			var event struct {
				Type    bridge.EventType
				Message struct{ Content, ChatJID string }
			}
			line := people.Line()
			if err := json.Unmarshal([]byte(line), &event); err != nil || event.Type != bridge.EventMessageCreated || event.Message.ChatJID == "" {
				t.Fatalf("printed %q: %v", line, err)
			}
			if event.Message.Content == text {
				break
			}
		}
	}
	want("one")
	proxy.CloseClientConnections()
	told(c.Anna, "two")
	want("two")
	c.Bridge.StaysAtItsAddress()
	c.Bridge.Restart()
	c.Bridge.Becomes(bridge.StateOpen)
	told(c.Anna, "three")
	want("three")
	for _, cmd := range []*Command{tail, people} {
		if err := cmd.Cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if code := cmd.Ends(); code != 0 || cmd.Stderr.String() != "" {
			t.Errorf("interrupted, it ended with %d: %s", code, cmd.Stderr)
		}
	}
}

// A pipe without a reader ends the command at once, not with the next event, and
// with success.
func TestShell_TailEndsWithItsReader(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	if err := c.Device.WaitAcknowledged(Within(t), Say(t, c.Anna, c.Owner.PN(), "one")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"bridged tail --since 0 | head -n 1", "bridged messages 491510000002 | true", "bridged chats --json | head -n 0"} {
		cmd := exec.CommandContext(Within(t), "bash", "-c", "set -o pipefail; "+script)
		cmd.Env = c.Bridge.CommandEnv()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}

// The time in --since lies between two events of the log.
func TestShell_TailBeginsAtAMoment(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	var times []string
	for _, text := range []string{"one", "two", "three", "four"} {
		if err := c.Device.WaitAcknowledged(Within(t), Say(t, c.Anna, c.Owner.PN(), text)); err != nil {
			t.Fatal(err)
		}
	}
	var page struct{ Events []bridge.Event }
	c.Bridge.Get("/api/events?types=message.created").Decode(&page)
	for _, e := range page.Events {
		times = append(times, e.At.String())
	}
	if len(times) != 4 || !slices.IsSorted(times) {
		t.Fatalf("events at %v", times)
	}
	tail := c.Bridge.Begin(nil, "tail", "--since", times[2])
	first := slices.Index(times, times[2]) // of one millisecond
	for _, text := range []string{"one", "two", "three", "four"}[first:] {
		if line := tail.Line(); !strings.HasSuffix(line, text) {
			t.Errorf("printed %q, want %s", line, text)
		}
	}
}
