//go:build unix

package dbfile

import (
	"os"
	"syscall"
)

// ErrLocked is the error of [Lock] if another process has the lock.
const ErrLocked = syscall.EWOULDBLOCK

// Lock takes an exclusive lock on a file without waiting. It ends when the file is closed, and with the
// process, however it ends.
func Lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
