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

// errLocked is the error of [lockFile] if another process has the lock.
const errLocked = syscall.EWOULDBLOCK

// lockFile takes an exclusive lock that ends with the process, however it ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// privateFiles makes all files of this process readable by its user alone.
func privateFiles() { syscall.Umask(0o077) }

// outliveReaders keeps the process alive when the reader of its log goes away: by default a
// write to standard output or standard error without a reader ends it (os/signal, "SIGPIPE").
func outliveReaders() { signal.Ignore(syscall.SIGPIPE) }

// outputPoll is how often the output is checked for a reader.
const outputPoll = 200 * time.Millisecond

// watchOutput calls closed once the pipe that w is has no reader any more: a command
// that waits for events would notice only with the next one. It ends with the context.
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
