package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"bridged/internal/simnet"
)

// command runs another bridged in the environment of p and returns what it
// printed.
func (p *process) command(args ...string) (string, error) {
	p.t.Helper()
	cmd := exec.Command("bridged", args...)
	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestBackup_WhileRunningIsCompleteAndRestorable(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	device := pair(t, p, owner)
	id := must(friend.SendText(within(t), owner.PN(), "keep this"))(t)
	if err := device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if out, err := p.command("backup", file); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the backup: %v, %v, want mode 0600", info, err)
	}
	if out, err := p.command("backup", file); err == nil {
		t.Errorf("a second backup overwrote the first: %s", out)
	}
	must(friend.SendText(within(t), owner.PN(), "after the backup"))(t)
	p.stop()

	data := p.env["DATA_DIR"]
	for _, name := range []string{"bridged.db", "bridged.db-wal", "bridged.db-shm"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(file, filepath.Join(data, "bridged.db")); err != nil {
		t.Fatal(err)
	}
	p.start()
	var found struct{ Count int }
	p.Get("/api/messages/search?q=keep+this").Want(http.StatusOK).Decode(&found)
	if found.Count != 1 {
		t.Errorf("the restored store has the message %d times, want once", found.Count)
	}
}

func TestReindex_NeedsTheBridgeStopped(t *testing.T) {
	t.Parallel()
	network, _ := newOwner(t, simnet.PhoneOptions{})
	p := startBridge(t, network)
	if out, err := p.command("reindex"); err == nil {
		t.Errorf("reindexed beside a running bridge: %s", out)
	}
	p.stop()
	if out, err := p.command("reindex"); err != nil {
		t.Errorf("reindex: %v\n%s", err, out)
	}
}

func TestDamagedDatabase_IsRefusedWithARemedy(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]byte{"emptied": nil, "overwritten": []byte("this is no database, whatever the name says")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, _ := newOwner(t, simnet.PhoneOptions{})
			p := startBridge(t, network)
			p.stop()
			for _, file := range []string{"bridged.db", "session.db"} {
				path := filepath.Join(p.env["DATA_DIR"], file)
				whole := must(os.ReadFile(path))(t)
				if err := os.WriteFile(path, damage, 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := p.command("serve")
				if err == nil {
					t.Errorf("started on an %s %s", name, file)
				}
				t.Logf("%s: %s", file, out)
				if err := os.WriteFile(path, whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
