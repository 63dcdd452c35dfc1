package harness

import (
	"fmt"
	"os"
	"testing"
)

// ResetPeak resets the program's peak of memory.
func (p *Process) ResetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.Cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Skipf("this system keeps a program's peak: %v", err)
	}
}
