package transcode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxMemory = 768 << 20 // of data, in bytes: a video in 4K takes 350 MB
	maxFiles  = 64        // open files
	niceness  = 10
	// fileMargin is how much larger a file may be than the size at which ffmpeg ends it.
	fileMargin = 16 << 20
)

// command returns the process that limits itself and then executes ffmpeg. It leads a process
// group, which is killed as a whole. ffmpeg also dies with the bridge.
func (c *Converter) command(ctx context.Context, most time.Duration, args []string) *exec.Cmd {
	limits := []string{strconv.Itoa(int(most.Seconds()) + 1), strconv.FormatInt(c.options.MaxBytes+fileMargin, 10), c.options.Program}
	line := append(append(append([]string{}, c.options.Limited...), limits...), args...)
	process := exec.CommandContext(ctx, line[0], line[1:]...)
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	return process
}

// Become limits this process and executes ffmpeg in it. Its arguments come from a [Converter]:
// seconds, the largest file in bytes, the program and its arguments.
func Become(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("%d arguments are too few", len(args))
	}
	seconds, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil {
		return err
	}
	bytes, err := strconv.ParseUint(args[1], 10, 63)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // some limits are the thread's, which executes ffmpeg
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	// If memory runs out, the system ends ffmpeg before the bridge. Some sandboxes do not have
	// this file.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness); err != nil {
		return err
	}
	for limit, most := range map[int]uint64{
		syscall.RLIMIT_CPU: seconds, syscall.RLIMIT_FSIZE: bytes, syscall.RLIMIT_DATA: maxMemory, syscall.RLIMIT_NOFILE: maxFiles, syscall.RLIMIT_CORE: 0,
	} {
		if err := syscall.Setrlimit(limit, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit %d: %w", limit, err)
		}
	}
	return syscall.Exec(args[2], args[2:], []string{})
}
