package events

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestReceiverExample_WithAWebhookOfTheAPI runs examples/receiver.py as its page
// describes: it answers "ping" once, and no text that merely contains it.
func TestReceiverExample_WithAWebhookOfTheAPI(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	ben := NewPhone(t, n, simnet.PhoneOptions{Number: "491510000002", Name: "Ben"})
	b := StartBridge(t, n, "WEBHOOK_ALLOW_PRIVATE=127.0.0.0/8")
	Pair(t, b, owner)
	port := FreePort(t)
	var webhook struct{ Secret string }
	b.Post("/api/webhooks", Object{"url": "http://127.0.0.1:" + port + "/", "types": []string{"message.created"}, "allowPrivate": true}).Want(http.StatusCreated).Decode(&webhook)
	printed := runScript(t, python, "examples/receiver.py", "WEBHOOK_SECRET="+webhook.Secret, "PORT="+port, "BRIDGE=http://"+b.Address, "BRIDGE_TOKEN="+TestToken)

	for _, text := range []string{"shipping is late", "ping me", " Ping ", "that is all"} {
		Must(ben.SendText(Within(t), owner.PN(), text))(t)
	}
	Eventually(t, func() error {
		if text := printed.String(); !strings.Contains(text, "Ben: that is all") {
			return fmt.Errorf("the receiver has printed %q", text)
		}
		return nil
	})
	var pongs []string
	chat := bridge.MessageQuery{Chat: bridge.JID(ben.PN().String())}
	for _, m := range Must(b.API.Messages(Within(t), chat))(t).Items {
		if m.FromMe {
			pongs = append(pongs, m.Content)
		}
	}
	if len(pongs) != 1 || pongs[0] != "pong" {
		t.Errorf("it answered %q, want one pong\n%s", pongs, printed)
	}
	if resp, err := http.Post("http://127.0.0.1:"+port+"/", "application/json", strings.NewReader(`{"type":"message.created"}`)); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a signature: %v, %v", resp, err)
	} else if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
}

// runScript runs one of the documentation's programs until the test ends, and waits
// until it listens.
func runScript(t *testing.T, python, script string, settings ...string) *ProcessLog {
	t.Helper()
	printed := NewProcessLog()
	cmd := exec.Command(python, "../../../"+script)
	cmd.Env = append(cmd.Environ(), settings...)
	cmd.Stdout, cmd.Stderr = printed, printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if signal.Ignored(os.Interrupt) { // a shell has started the tests in the background, and Python ignores it, too
			_, _ = cmd.Process.Kill(), cmd.Wait()
			return
		}
		_ = cmd.Process.Signal(os.Interrupt) // it has ended if the test failed
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s after Ctrl-C: %v\n%s", script, err, printed)
		}
	})
	Eventually(t, func() error {
		if !strings.Contains(printed.String(), "listening at") {
			return fmt.Errorf("%s has printed %q", script, printed)
		}
		return nil
	})
	return printed
}
