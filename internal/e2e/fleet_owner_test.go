package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// isClosed waits until a bridge is closed for a reason.
func (p *process) isClosed(says string) {
	p.t.Helper()
	eventually(p.t, func() error {
		status := p.status()
		if status.Status == bridge.StateClosed && strings.Contains(orNone(status.LastError), says) {
			return nil
		}
		return fmt.Errorf("%s, lastError %s; want %q", status.Status, orNone(status.LastError), says)
	})
}

// copied copies a bridge's data directory and returns the path of the copy.
func (p *process) copied() string {
	p.t.Helper()
	to := filepath.Join(p.t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(p.env["DATA_DIR"])); err != nil {
		p.t.Fatal(err)
	}
	return to
}

// Only one of several processes runs the account. The directory's lock refuses a
// second one, as without a fleet; a process on a copy reports which one runs the
// account, and never takes over. After a crash the original directory continues at
// once; after a stop and a copy, only the new one does.
func TestFleet_OneProcessRunsTheAccount(t *testing.T) {
	t.Parallel()
	_, url := natsCluster(t)
	network, owner := newOwner(t, simnet.PhoneOptions{})
	settings := []string{"NATS_URL=" + url, "NATS_REPLICAS=3", "NATS_OWNER_TTL=3s"}
	a := startBridge(t, network, settings...)
	device := pair(t, a, owner)
	a.stop()
	early := a.copied()
	a.start()
	a.becomes(bridge.StateOpen)

	if out, err := a.command("serve"); err == nil || !strings.Contains(out, "another bridged is using DATA_DIR") {
		t.Errorf("a second process on the directory: %v\n%s", err, out)
	}
	b := startBridge(t, network, append(settings, "DATA_DIR="+early)...)
	b.isClosed("another process runs this account")
	refused(t, b.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeNotConnected, "another process runs this account")
	refused(t, b.Post("/api/auth/reconnect", nil), http.StatusServiceUnavailable, bridge.CodeNotConnected, "another process runs this account")
	b.Get("/api/chats").Want(http.StatusOK)

	killed := time.Now()
	a.kill()
	b.isClosed("this data directory is a copy")
	if took := time.Since(killed); took > 10*time.Second {
		t.Errorf("the end of the key was noticed after %v", took)
	}
	a.start()
	a.becomes(bridge.StateOpen)
	b.isClosed("another process runs this account")
	a.stop() // which releases the account
	b.isClosed("this data directory is old")

	moved := startBridge(t, network, append(settings, "DATA_DIR="+a.copied())...)
	moved.becomes(bridge.StateOpen)
	a.start()
	a.isClosed("another process runs this account")
	moved.stop()
	a.isClosed("this data directory is old")
	if len(owner.LinkedDevices()) != 1 || device.Connected() {
		t.Errorf("%d devices, connected: %v", len(owner.LinkedDevices()), device.Connected())
	}
}
