package document

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// These are resource limits of setrlimit(2) that package syscall does not name.
const rlimitCore, rlimitData, rlimitFiles = 4, 2, 7

// limitProcess limits the data, the processor time and the files of this process. It also makes
// the system kill this process before others if memory runs out.
func limitProcess() error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // some sandboxes have none
	seconds := uint64(processTimeout.Seconds()) + 1
	for _, limit := range [][2]uint64{{syscall.RLIMIT_CPU, seconds}, {syscall.RLIMIT_FSIZE, 0}, {rlimitFiles, 32}, {rlimitCore, 0}, {rlimitData, maxMemory}} {
		if err := syscall.Setrlimit(int(limit[0]), &syscall.Rlimit{Cur: limit[1], Max: limit[1]}); err != nil {
			return fmt.Errorf("limit %d: %w", limit[0], err)
		}
	}
	return nil
}

// dieWithParent makes the system kill a process when this one ends (prctl(2), PR_SET_PDEATHSIG).
func dieWithParent(program *exec.Cmd) {
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
