package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// logged waits for a log line and returns it.
func (p *process) logged(message string) (event map[string]any) {
	p.t.Helper()
	eventually(p.t, func() error {
		for line := range strings.Lines(p.log.String()) {
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
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n, "ENABLE_SEND=false", "ENABLE_SENDING=true", "LOG_LEVEL=info")
	listening := b.logged("listening")
	if listening["version"] == "" || listening["address"] != b.address || listening["data_dir"] != b.env["DATA_DIR"] || listening["enable_send"] != false {
		t.Errorf("listening: %v", listening)
	}
	b.logged("sending is off: set ENABLE_SEND=true to switch it on")
	b.logged("ENABLE_SENDING is set, but not a variable of bridged: did you mean ENABLE_SEND?")
	b.logged("not paired: run bridged pair")
	pair(t, b, owner)
	eventually(t, func() error {
		if user := b.logged("account status")["user"]; user == "…01@s.whatsapp.net" {
			return nil
		}
		return fmt.Errorf("the log does not say who is linked:\n%s", b.log)
	})
	b.set("ENABLE_SEND=true")
	b.restart()
	b.becomes(bridge.StateOpen)
	if text := b.log.String(); strings.Contains(text, "sending is off") || strings.Contains(text, "not paired") {
		t.Errorf("the log of a paired bridge that may send:\n%s", text)
	}
}

// TestStart_WithoutNetworkSaysSo: within a second, with advice.
func TestStart_WithoutNetworkSaysSo(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	b := startBridge(t, n, "PHONE_NUMBER=491510000001")
	b.stop()
	n.Close()
	b.start()
	began := time.Now()
	eventually(t, func() error {
		if said := orNone(b.status().LastError); !strings.HasPrefix(said, "WhatsApp cannot be reached: check the internet connection") {
			return fmt.Errorf("the status says %s", said)
		}
		return nil
	})
	if took := time.Since(began); took > time.Second+testPatience/6 { // which is left to a busy machine
		t.Errorf("it took %v", took)
	}
}
