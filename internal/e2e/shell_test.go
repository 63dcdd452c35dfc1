package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// command runs next to the test.
type command struct {
	t      testing.TB
	cmd    *exec.Cmd
	lines  chan string
	stderr *processLog
}

// begin starts a command of a bridge.
func (p *process) begin(settings []string, args ...string) *command {
	p.t.Helper()
	c := &command{t: p.t, cmd: exec.Command("bridged", args...), lines: make(chan string, 100), stderr: newProcessLog()}
	c.cmd.Env, c.cmd.Stderr = p.commandEnv(settings...), c.stderr
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.lines <- lines.Text()
		}
	}()
	p.t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill() // it may have ended
			_ = c.cmd.Wait()
		}
	})
	return c
}

// line waits for the next line.
func (c *command) line() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("the command has ended: %s", c.stderr)
		}
		return line
	case <-time.After(testPatience):
		c.t.Fatalf("the command prints nothing: %s", c.stderr)
	}
	return ""
}

// ends waits for the end and returns the exit code.
func (c *command) ends() int {
	c.t.Helper()
	for range c.lines { // to its end, before Wait closes it
	}
	_ = c.cmd.Wait() // its result is in ProcessState
	return c.cmd.ProcessState.ExitCode()
}

// Every message is printed once, in order, across lost connections and restarts of
// the bridge; an interrupt ends the command with success.
func TestShell_TailFollows(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, ownAddress())
	told := func(by *simnet.Phone, text string) {
		t.Helper()
		if err := c.device.WaitAcknowledged(within(t), say(t, by, c.owner.PN(), text)); err != nil {
			t.Fatal(err)
		}
	}
	told(c.anna, "one")
	told(c.ben, "of another")
	proxy := newLossyProxy(t, c.bridge.address, "/api/events")
	tail := c.bridge.begin([]string{"BRIDGE_URL=" + proxy.URL}, "tail", "--since", "0", "--chat", "Anna Amsel")
	people := c.bridge.begin(nil, "tail", "--since", "1h", "--json")
	want := func(text string) {
		t.Helper()
		if line := tail.line(); !strings.HasSuffix(line, "  Anna Amsel  "+text) {
			t.Errorf("printed %q, want %s", line, text)
		}
		for {
			var event struct {
				Type    bridge.EventType
				Message struct{ Content, ChatJID string }
			}
			line := people.line()
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
	told(c.anna, "two")
	want("two")
	c.bridge.staysAtItsAddress()
	c.bridge.restart()
	c.bridge.becomes(bridge.StateOpen)
	told(c.anna, "three")
	want("three")
	for _, cmd := range []*command{tail, people} {
		if err := cmd.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if code := cmd.ends(); code != 0 || cmd.stderr.String() != "" {
			t.Errorf("interrupted, it ended with %d: %s", code, cmd.stderr)
		}
	}
}

// A pipe without a reader ends the command at once, not with the next event, and
// with success.
func TestShell_TailEndsWithItsReader(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	if err := c.device.WaitAcknowledged(within(t), say(t, c.anna, c.owner.PN(), "one")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"bridged tail --since 0 | head -n 1", "bridged messages 491510000002 | true", "bridged chats --json | head -n 0"} {
		cmd := exec.CommandContext(within(t), "bash", "-c", "set -o pipefail; "+script)
		cmd.Env = c.bridge.commandEnv()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}

// The time in --since lies between two events of the log.
func TestShell_TailBeginsAtAMoment(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	var times []string
	for _, text := range []string{"one", "two", "three", "four"} {
		if err := c.device.WaitAcknowledged(within(t), say(t, c.anna, c.owner.PN(), text)); err != nil {
			t.Fatal(err)
		}
	}
	var page struct{ Events []bridge.Event }
	c.bridge.Get("/api/events?types=message.created").Decode(&page)
	for _, e := range page.Events {
		times = append(times, e.At.String())
	}
	if len(times) != 4 || !slices.IsSorted(times) {
		t.Fatalf("events at %v", times)
	}
	tail := c.bridge.begin(nil, "tail", "--since", times[2])
	first := slices.Index(times, times[2]) // of one millisecond
	for _, text := range []string{"one", "two", "three", "four"}[first:] {
		if line := tail.line(); !strings.HasSuffix(line, text) {
			t.Errorf("printed %q, want %s", line, text)
		}
	}
}
