package document

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peakOf returns the most memory that a process had resident until it ended, in bytes.
func peakOf(pid int) (peak int64) {
	for {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		_, line, found := strings.Cut(string(status), "VmHWM:")
		fields := strings.Fields(line)
		if err != nil || !found || len(fields) == 0 { // it has ended
			return peak
		}
		kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
		peak = kilobytes << 10
		time.Sleep(time.Millisecond)
	}
}

// The process that reads a document is limited, the first to be killed when memory runs out, and
// killed with its parent.
func TestProcess_IsLimitedAndDiesWithItsParent(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "pid")
	parent := exec.CommandContext(t.Context(), program, "parent", named)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	await := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: not in time", what)
			}
		}
	}
	pid := ""
	await("the process starts", func() bool {
		data, _ := os.ReadFile(named) // not there yet
		pid = string(data)
		return pid != ""
	})
	of := func(name string) string {
		data, _ := os.ReadFile("/proc/" + pid + "/" + name) // empty once it is gone
		return string(data)
	}
	await("the last limit", func() bool { return strings.Contains(of("limits"), strconv.Itoa(maxMemory)) })
	if score := strings.TrimSpace(of("oom_score_adj")); score != "1000" {
		t.Errorf("oom_score_adj is %s", score)
	}
	for limit, want := range map[string]string{"Max data size": strconv.Itoa(maxMemory), "Max cpu time": "11", "Max file size": "0", "Max core file size": "0"} {
		line := of("limits")
		line = line[max(0, strings.Index(line, limit)):]
		if line, _, _ = strings.Cut(line, "\n"); len(strings.Fields(strings.TrimPrefix(line, limit))) == 0 || strings.Fields(strings.TrimPrefix(line, limit))[0] != want {
			t.Errorf("%s, want %s", line, want)
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	await("the process ends", func() bool { return of("status") == "" || strings.Contains(of("status"), "State:\tZ") })
}
