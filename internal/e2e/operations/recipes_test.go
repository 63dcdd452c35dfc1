package operations

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/media/mediatest"
)

// recipe returns the blocks of commands of a section of docs/operations.md.
func recipe(t *testing.T, heading string) (blocks []string) {
	t.Helper()
	page := string(Must(os.ReadFile("../../../docs/operations.md"))(t))
	section := regexp.MustCompile(`(?ms)^##+ ` + regexp.QuoteMeta(heading) + `\n(.*?)(?:^##+ |\z)`).FindStringSubmatch(page)
	if section == nil {
		t.Fatalf("docs/operations.md has no section %q", heading)
	}
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(section[1], -1) {
		if n := strings.Count(block[1], "\n"); n > 10 {
			t.Errorf("%s: a block has %d lines", heading, n)
		}
		blocks = append(blocks, block[1])
	}
	return blocks
}

// machine is a machine with Docker, which testdata/docker stands for, and a bridge in a container.
type machine struct {
	t   *testing.T
	dir string
	env map[string]string
}

// newMachine returns a machine whose container has the environment of a bridge.
func newMachine(t *testing.T, dir string, env map[string]string) machine {
	t.Helper()
	m := machine{t, dir, env}
	lines := ""
	for name, value := range env {
		lines += name + "='" + value + "'\n"
	}
	bin := filepath.Join(dir, "bin")
	docker := Must(filepath.Abs("testdata/docker"))(t)
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "env"), []byte(lines), 0o600), os.Mkdir(bin, 0o700), os.Symlink(docker, filepath.Join(bin, "docker")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(dir, "pid")); err == nil {
			m.types("docker compose stop\n")
		}
	})
	return m
}

// command returns a command that types lines into a shell of the machine.
func (m machine) command(lines string) *exec.Cmd {
	m.t.Helper()
	cmd := exec.Command("sh", "-euxc", lines) // also after the test's context has ended
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "MACHINE="+m.dir, "PATH="+filepath.Join(m.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}

func (m machine) types(lines string) string {
	m.t.Helper()
	out, err := m.command(lines).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// onMachine pairs a bridge, and moves it into the container of a machine.
func onMachine(t *testing.T) (*Cast, machine) {
	t.Helper()
	dir := t.TempDir()
	c := PairedCast(t, OwnAddress(), "DATA_DIR="+filepath.Join(dir, "data"))
	c.Bridge.StaysAtItsAddress()
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "before"))
	c.Bridge.Stop()
	m := newMachine(t, dir, c.Bridge.Env)
	m.types("docker compose up --detach\n")
	c.Bridge.Becomes(bridge.StateOpen)
	return c, m
}

// finds checks how many messages have a text.
func finds(t *testing.T, p *Process, text string, want int) {
	t.Helper()
	if found := Must(p.API.Search(Within(t), bridge.SearchQuery{Q: text}))(t); len(found.Items) != want {
		t.Errorf("%d messages say %q, want %d", len(found.Items), text, want)
	}
}

func TestRecipes_BackupAndRestore(t *testing.T) {
	t.Parallel()
	c, m := onMachine(t)
	m.types(recipe(t, "Backups")[0])
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "later"))
	out := m.types(recipe(t, "Restore")[0])
	if !strings.Contains(out, "Restored 1 message of 1 chat into ") {
		t.Errorf("the commands print\n%s", out)
	}
	c.Bridge.Becomes(bridge.StateOpen)
	finds(t, c.Bridge, "before", 1)
	finds(t, c.Bridge, "later", 0)
}

func TestRecipes_Upgrade(t *testing.T) {
	t.Parallel()
	c, m := onMachine(t)
	m.types(recipe(t, "Upgrades")[0])
	c.Bridge.Becomes(bridge.StateOpen)
	finds(t, c.Bridge, "before", 1)
	restoresTo(t, c.Bridge, filepath.Join(m.dir, "before.db"))
}

func TestRecipes_AnotherMachine(t *testing.T) {
	t.Parallel()
	c, m := onMachine(t)
	blocks := recipe(t, "Another machine")
	dir := t.TempDir()
	other := newMachine(t, dir, c.Bridge.Env)
	other.types(fmt.Sprintf("sed -i 's|%s|%s|' env\n", m.dir, dir))
	scp := "#!/bin/sh\ncp bridged-data.tar " + dir + "\n"
	mediatest.WriteProgram(t, filepath.Join(m.dir, "bin", "scp"), []byte(scp))
	m.types(blocks[0])
	other.types(blocks[1])
	c.Bridge.Becomes(bridge.StateOpen)
	finds(t, c.Bridge, "before", 1)
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "on the new machine"))
}

func TestRecipes_ALostPhone(t *testing.T) {
	t.Parallel()
	c, m := onMachine(t)
	c.Owner.Unlink(c.Device)
	c.Bridge.Becomes(bridge.StateNeedsPair)
	cmd := m.command(recipe(t, "A lost phone")[0])
	log := NewProcessLog()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		if !strings.Contains(log.String(), "needs-pair") {
			return errors.New("the first command does not say what to do")
		}
		return nil
	})
	device, err := c.Owner.HoldTo(Within(t), c.Bridge.QR)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	c.Bridge.Becomes(bridge.StateOpen)
	finds(t, c.Bridge, "before", 1)
	id := Say(t, c.Anna, c.Owner.PN(), "on the new phone")
	if err := device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	finds(t, c.Bridge, "on the new phone", 1)
}
