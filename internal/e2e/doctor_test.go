package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// diagnosis is the output of bridged doctor.
type diagnosis struct {
	OK       bool
	Findings []struct{ Check, Verdict, Message, Remedy string }
	code     int
	text     string
}

// doctor runs bridged doctor with a process's variables and changes to them, with
// the output for people and for programs.
func (p *process) doctor(settings ...string) (d diagnosis) {
	p.t.Helper()
	environ := maps.Clone(p.env)
	if p.address != "" {
		environ["LISTEN_ADDR"] = p.address
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		environ[name] = value
	}
	run := func(args ...string) (output []byte, code int) {
		cmd := exec.Command("bridged", append([]string{"doctor"}, args...)...)
		for name, value := range environ {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		output, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		return output, cmd.ProcessState.ExitCode()
	}
	text, code := run()
	program, again := run("--json")
	if err := json.Unmarshal(program, &d); err != nil {
		p.t.Fatalf("bridged doctor --json: %v\n%s", err, program)
	}
	if code != again || (code == 0) != d.OK {
		p.t.Errorf("exit codes %d and %d, ok %v", code, again, d.OK)
	}
	d.code, d.text = code, string(text)
	for _, secret := range []string{environ["BRIDGE_TOKEN"], "491510000001"} {
		if strings.Contains(d.text, secret) || strings.Contains(string(program), secret) {
			p.t.Errorf("the report shows %q:\n%s", secret, d.text)
		}
	}
	return d
}

// expect checks the verdict and the text of a check.
func (d diagnosis) expect(t *testing.T, check, verdict, says string) {
	t.Helper()
	for _, f := range d.Findings {
		if f.Check == check && f.Verdict == verdict && strings.Contains(f.Message, says) {
			if (verdict == "ok") != (f.Remedy == "") {
				t.Errorf("%s is %s, with the remedy %q", check, verdict, f.Remedy)
			}
			return
		}
	}
	t.Errorf("no %s of %s with %q in\n%s", verdict, check, says, d.text)
}

func TestDoctor_FindsAHealthyBridge(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	id := say(t, c.anna, c.owner.PN(), "a text that nobody else must see")
	if err := c.device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
	files := tree(t, c.bridge.env["DATA_DIR"])
	d := c.bridge.doctor()
	if d.code != 0 {
		t.Errorf("exit code %d", d.code)
	}
	if strings.Contains(d.text, "nobody else") {
		t.Errorf("the report shows a text:\n%s", d.text)
	}
	d.expect(t, "version", "ok", "whatsmeow v")
	d.expect(t, "configuration", "ok", "sending is on")
	d.expect(t, "bridge", "ok", "answers at http://"+c.bridge.address)
	d.expect(t, "account", "ok", "open since")
	d.expect(t, "account", "ok", "number …01")
	d.expect(t, "history", "ok", "HISTORY_IMPORT is off")
	d.expect(t, "disk", "ok", "DATA_DIR is writable")
	d.expect(t, "disk", "ok", "the bridge checks it itself")
	d.expect(t, "network", "warn", "the simulated network answers")
	d.expect(t, "clock", "ok", "agrees")
	d.expect(t, "ffmpeg", "ok", "none here")
	c.bridge.doctor("FFMPEG=/usr/bin/env").expect(t, "ffmpeg", "warn", "does not run")
	if after := tree(t, c.bridge.env["DATA_DIR"]); after != files {
		t.Errorf("the data directory holds\n%s\nand held\n%s", after, files)
	}
	c.bridge.doctor("BRIDGE_TOKEN=not-the-token-of-this-bridge").expect(t, "bridge", "fail", "does not take this BRIDGE_TOKEN")
}

func TestDoctor_FindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	p := startBridge(t, n)
	p.becomes(bridge.StateNeedsPair)
	p.doctor().expect(t, "account", "fail", "needs-pair")
	p.stop()

	stopped := p.doctor()
	stopped.expect(t, "bridge", "warn", "no bridge answers")
	stopped.expect(t, "disk", "ok", "no damage")
	if stopped.code != 0 {
		t.Errorf("exit code %d without a bridge, where nothing is wrong", stopped.code)
	}

	faulty := p.doctor("LOG_LEVEL=loud", "ENABLE_SENDING=true")
	faulty.expect(t, "configuration", "fail", "LOG_LEVEL must be")
	faulty.expect(t, "configuration", "warn", "ENABLE_SENDING is set")
	p.doctor("BRIDGE_TOKEN=tiny").expect(t, "configuration", "fail", "BRIDGE_TOKEN is too short")

	n.Close()
	p.doctor().expect(t, "network", "fail", "the simulated network does not answer")
	// The real network, with no way to reach it.
	cut := p.doctor("WA_NETWORK_FILE=", "PROXY_URL=http://127.0.0.1:1")
	cut.expect(t, "network", "fail", "web.whatsapp.com is not reached through PROXY_URL")
	cut.expect(t, "network", "fail", "mmg.whatsapp.net is not reached through PROXY_URL")
	cut.expect(t, "client version", "warn", "is not known")
	cut.expect(t, "clock", "warn", "not compared")
}

func TestDoctor_FindsABrokenDataDirectory(t *testing.T) {
	t.Parallel()
	p := startBridge(t, newNetwork(t))
	p.becomes(bridge.StateNeedsPair)
	p.stop()
	data := p.env["DATA_DIR"]
	if err := os.WriteFile(filepath.Join(data, "bridged.db"), []byte("nothing of the kind"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := tree(t, data)
	d := p.doctor()
	d.expect(t, "disk", "fail", "bridged.db is damaged")
	d.expect(t, "disk", "ok", "session.db")
	if after := tree(t, data); after != files {
		t.Errorf("the data directory holds\n%s\nand held\n%s", after, files)
	}
	p.doctor("DATA_DIR="+filepath.Join(data, "bridged.db")).expect(t, "disk", "fail", "not a directory")
	p.doctor("DATA_DIR="+filepath.Join(data, "elsewhere")).expect(t, "disk", "warn", "does not exist yet")
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
