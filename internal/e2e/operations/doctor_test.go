package operations

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

func TestDoctor_FindsAHealthyBridge(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	id := Say(t, c.Anna, c.Owner.PN(), "a text that nobody else must see")
	if err := c.Device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	files := tree(t, c.Bridge.Env["DATA_DIR"])
	d := c.Bridge.Doctor()
	if d.Code != 0 {
		t.Errorf("exit code %d", d.Code)
	}
	if strings.Contains(d.Text, "nobody else") {
		t.Errorf("the report shows a text:\n%s", d.Text)
	}
	d.Expect(t, "version", "ok", "whatsmeow v")
	d.Expect(t, "configuration", "ok", "sending is on")
	d.Expect(t, "bridge", "ok", "answers at http://"+c.Bridge.Address)
	d.Expect(t, "account", "ok", "open since")
	d.Expect(t, "account", "ok", "number …01")
	d.Expect(t, "history", "ok", "HISTORY_IMPORT is off")
	d.Expect(t, "disk", "ok", "DATA_DIR is writable")
	d.Expect(t, "disk", "ok", "the bridge checks it itself")
	d.Expect(t, "network", "warn", "the simulated network answers")
	d.Expect(t, "clock", "ok", "agrees")
	d.Expect(t, "ffmpeg", "ok", "not installed")
	c.Bridge.Doctor("FFMPEG=/usr/bin/env").Expect(t, "ffmpeg", "warn", "does not run")
	if after := tree(t, c.Bridge.Env["DATA_DIR"]); after != files {
		t.Errorf("the data directory holds\n%s\nand held\n%s", after, files)
	}
	c.Bridge.Doctor("BRIDGE_TOKEN=not-the-token-of-this-bridge").Expect(t, "bridge", "fail", "does not accept this BRIDGE_TOKEN")
}

func TestDoctor_FindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	n := NewNetwork(t)
	p := StartBridge(t, n)
	p.Becomes(bridge.StateNeedsPair)
	p.Doctor().Expect(t, "account", "fail", "needs-pair")
	p.Stop()

	stopped := p.Doctor()
	stopped.Expect(t, "bridge", "warn", "no bridge answers")
	stopped.Expect(t, "disk", "ok", "no damage")
	if stopped.Code != 0 {
		t.Errorf("exit code %d without a bridge, where nothing is wrong", stopped.Code)
	}

	faulty := p.Doctor("LOG_LEVEL=loud", "ENABLE_SENDING=true")
	faulty.Expect(t, "configuration", "fail", "LOG_LEVEL must be")
	faulty.Expect(t, "configuration", "warn", "ENABLE_SENDING is set")
	p.Doctor("BRIDGE_TOKEN=tiny").Expect(t, "configuration", "fail", "BRIDGE_TOKEN is too short")

	n.Close()
	p.Doctor().Expect(t, "network", "fail", "the simulated network does not answer")
	// The real network, with no way to reach it.
	cut := p.Doctor("WA_NETWORK_FILE=", "PROXY_URL=http://127.0.0.1:1")
	cut.Expect(t, "network", "fail", "cannot reach web.whatsapp.com through PROXY_URL")
	cut.Expect(t, "network", "fail", "cannot reach mmg.whatsapp.net through PROXY_URL")
	cut.Expect(t, "client version", "warn", "is unknown")
	cut.Expect(t, "clock", "warn", "not compared")
}

func TestDoctor_FindsABrokenDataDirectory(t *testing.T) {
	t.Parallel()
	p := StartBridge(t, NewNetwork(t))
	p.Becomes(bridge.StateNeedsPair)
	p.Stop()
	data := p.Env["DATA_DIR"]
	if err := os.WriteFile(filepath.Join(data, "bridged.db"), []byte("nothing of the kind"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := tree(t, data)
	d := p.Doctor()
	d.Expect(t, "disk", "fail", "bridged.db is damaged")
	d.Expect(t, "disk", "ok", "session.db")
	if after := tree(t, data); after != files {
		t.Errorf("the data directory holds\n%s\nand held\n%s", after, files)
	}
	p.Doctor("DATA_DIR="+filepath.Join(data, "bridged.db")).Expect(t, "disk", "fail", "not a directory")
	p.Doctor("DATA_DIR="+filepath.Join(data, "elsewhere")).Expect(t, "disk", "warn", "does not exist yet")
}

// tree lists the files below a directory, to detect any that the doctor adds or
// removes.
func tree(t *testing.T, dir string) (list string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		list += path + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
