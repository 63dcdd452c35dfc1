package pairing

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// logged waits for a log line and returns it.
func logged(p *Process, message string) (event map[string]any) {
	p.T.Helper()
	Eventually(p.T, func() error {
		for line := range strings.Lines(p.Log.String()) {
			event = nil
			if json.Unmarshal([]byte(line), &event) == nil && event["message"] == message {
				return nil
			}
		}
		return fmt.Errorf("the log does not say %q", message)
	})
	return event
}

// TestStart_SaysWhereItIs: the log begins with a new operator's first questions.
func TestStart_SaysWhereItIs(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n, "ENABLE_SEND=false", "ENABLE_SENDING=true", "LOG_LEVEL=info")
	listening := logged(b, "listening")
	if listening["version"] == "" || listening["address"] != b.Address || listening["data_dir"] != b.Env["DATA_DIR"] || listening["enable_send"] != false {
		t.Errorf("listening: %v", listening)
	}
	logged(b, "sending is off: set ENABLE_SEND=true to switch it on")
	logged(b, "ENABLE_SENDING is set, but not a variable of bridged: did you mean ENABLE_SEND?")
	logged(b, "not paired: run bridged pair")
	Pair(t, b, owner)
	Eventually(t, func() error {
		if user := logged(b, "account status")["user"]; user == "…01@s.whatsapp.net" {
			return nil
		}
		return fmt.Errorf("the log does not say who is linked:\n%s", b.Log)
	})
	b.Set("ENABLE_SEND=true")
	b.Restart()
	b.Becomes(bridge.StateOpen)
	if text := b.Log.String(); strings.Contains(text, "sending is off") || strings.Contains(text, "not paired") {
		t.Errorf("the log of a paired bridge that may send:\n%s", text)
	}
}

// TestStart_WithoutNetworkSaysSo: within a second, with advice.
func TestStart_WithoutNetworkSaysSo(t *testing.T) {
	t.Parallel()
	n := NewNetwork(t)
	b := StartBridge(t, n, "PHONE_NUMBER=491510000001")
	b.Stop()
	n.Close()
	b.Start()
	began := time.Now()
	Eventually(t, func() error {
		if said := OrNone(b.Status().LastError); !strings.HasPrefix(said, "WhatsApp cannot be reached: check the internet connection") {
			return fmt.Errorf("the status says %s", said)
		}
		return nil
	})
	if took := time.Since(began); took > time.Second+TestTimeout/6 { // which is left to a busy machine
		t.Errorf("it took %v", took)
	}
}
