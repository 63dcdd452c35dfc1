package fleet

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// isClosed waits until a bridge is closed for a reason.
func isClosed(p *Process, says string) {
	p.T.Helper()
	Eventually(p.T, func() error {
		status := p.Status()
		if status.Status == bridge.StateClosed && strings.Contains(OrNone(status.LastError), says) {
			return nil
		}
		return fmt.Errorf("%s, lastError %s; want %q", status.Status, OrNone(status.LastError), says)
	})
}

// copied copies a bridge's data directory and returns the path of the copy.
func copied(p *Process) string {
	p.T.Helper()
	to := filepath.Join(p.T.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(p.Env["DATA_DIR"])); err != nil {
		p.T.Fatal(err)
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
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	settings := []string{"NATS_URL=" + url, "NATS_REPLICAS=3", "NATS_OWNER_TTL=3s"}
	a := StartBridge(t, network, settings...)
	device := Pair(t, a, owner)
	a.Stop()
	early := copied(a)
	a.Start()
	a.Becomes(bridge.StateOpen)

	if out, err := a.Command("serve"); err == nil || !strings.Contains(out, "another bridged is using DATA_DIR") {
		t.Errorf("a second process on the directory: %v\n%s", err, out)
	}
	b := StartBridge(t, network, append(settings, "DATA_DIR="+early)...)
	isClosed(b, "another process runs this account")
	Refused(t, b.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeNotConnected, "another process runs this account")
	Refused(t, b.Post("/api/auth/reconnect", nil), http.StatusServiceUnavailable, bridge.CodeNotConnected, "another process runs this account")
	b.Get("/api/chats").Want(http.StatusOK)

	killed := time.Now()
	a.Kill()
	isClosed(b, "this data directory is a copy")
	if took := time.Since(killed); took > 10*time.Second {
		t.Errorf("the end of the key was noticed after %v", took)
	}
	a.Start()
	a.Becomes(bridge.StateOpen)
	isClosed(b, "another process runs this account")
	a.Stop() // which releases the account
	isClosed(b, "this data directory is old")

	moved := StartBridge(t, network, append(settings, "DATA_DIR="+copied(a))...)
	moved.Becomes(bridge.StateOpen)
	a.Start()
	isClosed(a, "another process runs this account")
	moved.Stop()
	isClosed(a, "this data directory is old")
	if len(owner.LinkedDevices()) != 1 || device.Connected() {
		t.Errorf("%d devices, connected: %v", len(owner.LinkedDevices()), device.Connected())
	}
}
