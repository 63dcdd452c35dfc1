//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile takes an exclusive lock that ends with the process, however it ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// privateFiles makes every file of this process readable by its user alone,
// also those that libraries make.
func privateFiles() { syscall.Umask(0o077) }

// outputPoll is how often to look whether anybody still reads the output.
const outputPoll = 200 * time.Millisecond

// watchOutput calls closed once nobody reads the pipe that w is any more: what
// waits for events would notice only with the next one. The returned function
// ends the watch.
func watchOutput(ctx context.Context, w io.Writer, closed func()) (end func()) {
	file, ok := w.(*os.File)
	if !ok {
		return func() {}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(outputPoll)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			ready := []unix.PollFd{{Fd: int32(file.Fd())}}
			if n, err := unix.Poll(ready, 0); err == nil && n > 0 && ready[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
				closed()
				return
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// inode returns the number of a file within its file system.
func inode(f *os.File) (uint64, error) {
	var about syscall.Stat_t
	err := syscall.Fstat(int(f.Fd()), &about)
	return about.Ino, err
}
