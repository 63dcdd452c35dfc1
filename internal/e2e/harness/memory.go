package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Memory returns the program's resident memory in bytes.
func (p *Process) Memory(t testing.TB) int { return p.statusField(t, "VmRSS:") }

// Peak returns the highest memory since resetPeak.
func (p *Process) Peak(t testing.TB) int { return p.statusField(t, "VmHWM:") }

func (p *Process) statusField(t testing.TB, field string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Skipf("this system does not report a program's memory: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, field); found {
			kilobytes, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("/proc does not report the memory")
	return 0
}

// ResetPeak resets the program's peak of memory.
func (p *Process) ResetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.Cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Skipf("this system keeps a program's peak: %v", err)
	}
}
