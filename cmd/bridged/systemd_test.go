package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bridged/internal/config"
)

// units are the systemd units, the second of which is a template for several accounts.
var units = []string{"systemd/bridged.service", "accounts/bridged@.service"}

// unit returns the directives of a systemd unit: those of a section with their values, in order. The
// instance of a template is anna.
func unit(t *testing.T, path string) (text string, directives map[string][]string) {
	t.Helper()
	data, err := os.ReadFile(deployed + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	directives = make(map[string][]string)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		name, value, isDirective := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case isDirective:
			directives[section+"."+name] = append(directives[section+"."+name], strings.ReplaceAll(value, "%i", "anna"))
		default:
			t.Errorf("the unit has the line %q", line)
		}
	}
	return string(data), directives
}

// The units run a command that there is, with variables that are read, and give it the time that a
// stop takes.
func TestDeploy_SystemdFits(t *testing.T) {
	for _, path := range units {
		t.Run(filepath.Base(path), func(t *testing.T) { systemdFits(t, path) })
	}
}

func systemdFits(t *testing.T, path string) {
	_, directives := unit(t, path)
	service := func(name string) string { return strings.Join(directives["Service."+name], " ") }
	program, arguments, _ := strings.Cut(service("ExecStart"), " ")
	if program != "/usr/local/bin/bridged" || everyCommand()[arguments] == nil {
		t.Errorf("it runs %s %s", program, arguments)
	}
	dir := t.TempDir()
	token := filepath.Join(dir, "bridge-token")
	if err := os.WriteFile(token, []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var environ []string
	for _, setting := range directives["Service.Environment"] {
		name, _, _ := strings.Cut(setting, "=")
		if !slices.Contains(config.Variables(), name) {
			t.Errorf("%s is no variable of bridged", name)
		}
		environ = append(environ, strings.NewReplacer("%d", dir, "%S", "/var/lib").Replace(setting))
	}
	c, err := config.Read(environ)
	if err != nil || c.Token != testToken || c.DataDir != "/var/lib/"+service("StateDirectory") {
		t.Errorf("%v: the data is in %q", err, c.DataDir)
	}
	if strings.Contains(path, "@") && c.BasePath != "/a/anna" {
		t.Errorf("the account is at %q", c.BasePath)
	}
	if credential, _, _ := strings.Cut(service("LoadCredential"), ":"); credential != filepath.Base(token) {
		t.Errorf("the credential is %q", credential)
	}
	if seconds, err := strconv.Atoi(service("TimeoutStopSec")); err != nil || time.Duration(seconds)*time.Second <= requestsTimeout+2*cancelTimeout {
		t.Errorf("a stop may take %q", service("TimeoutStopSec"))
	}
	if service("RestartPreventExitStatus") != strconv.Itoa(exitConfig) || service("Type") != "notify" {
		t.Errorf("Type=%s, RestartPreventExitStatus=%s", service("Type"), service("RestartPreventExitStatus"))
	}
}

// systemd itself finds nothing wrong with the units, and little that they leave open.
func TestDeploy_SystemdAgrees(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("the unit is checked by systemd-analyze, which is not installed")
	}
	for _, path := range units {
		t.Run(filepath.Base(path), func(t *testing.T) { systemdAgrees(t, analyze, path) })
	}
}

func systemdAgrees(t *testing.T, analyze, path string) {
	text, _ := unit(t, path)
	dir := t.TempDir()
	file, program := filepath.Join(dir, strings.Replace(filepath.Base(path), "@", "@anna", 1)), filepath.Join(dir, "bridged")
	text = strings.ReplaceAll(text, "/usr/local/bin/bridged", program)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", file).CombinedOutput()
	if err != nil {
		t.Skipf("this systemd-analyze judges no file: %v\n%s", err, out)
	}
	found := regexp.MustCompile(`exposure level for bridged(?:@anna)?\.service: (\d+\.\d)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("systemd-analyze security says\n%s", out)
	}
	if level, err := strconv.ParseFloat(string(found[1]), 64); err != nil || level > 2 {
		t.Errorf("the exposure is %s, above 2.0\n%s", found[1], out)
	}
}

// The service manager learns when the bridge listens and when it stops; without one there is
// nobody to tell.
func TestNotify_TellsTheServiceManager(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Skipf("no such sockets here: %v", err)
	}
	defer manager.Close()
	if err := manager.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"READY=1", "STOPPING=1"} {
		if err := notify([]string{"NOTIFY_SOCKET=" + socket}, state); err != nil {
			t.Fatal(err)
		}
		told := make([]byte, 100)
		if n, err := manager.Read(told); err != nil || string(told[:n]) != state {
			t.Errorf("told %q, %v", told[:n], err)
		}
	}
	if err := notify(nil, "READY=1"); err != nil {
		t.Error(err)
	}
	if err := notify([]string{"NOTIFY_SOCKET=" + socket + ".none"}, "READY=1"); err == nil {
		t.Error("told nobody")
	}
}
