//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// privateFiles makes all files of this process readable by its user alone.
func privateFiles() { syscall.Umask(0o077) }

// ignoreSIGPIPE lets the process continue after the reader of its log has gone. By default a write to a
// closed standard output or standard error ends it (os/signal, "SIGPIPE").
func ignoreSIGPIPE() { signal.Ignore(syscall.SIGPIPE) }

// outputPoll is the interval at which the output is checked for a reader.
const outputPoll = 200 * time.Millisecond

// watchOutput calls closed when w is a pipe and its reader has gone. Without it, a command that waits for
// events would notice only at the next event. It returns when the context ends.
func watchOutput(ctx context.Context, w io.Writer, closed func()) {
	file, ok := w.(*os.File)
	if !ok {
		return
	}
	if info, err := file.Stat(); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	for ctx.Err() == nil {
		ready := []unix.PollFd{{Fd: int32(file.Fd())}}
		if n, err := unix.Poll(ready, 0); err == nil && n > 0 && ready[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			closed()
		}
		select {
		case <-ctx.Done():
		case <-time.After(outputPoll):
		}
	}
}

// inode returns the number of a file within its file system.
func inode(f *os.File) (uint64, error) {
	var about syscall.Stat_t
	err := syscall.Fstat(int(f.Fd()), &about)
	return about.Ino, err
}
