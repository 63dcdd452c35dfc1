//go:build unix

package main

import (
	"os"
	"syscall"
)

// lockFile takes an exclusive lock that ends with the process, however it ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// privateFiles makes every file of this process readable by its user alone,
// also those that libraries make.
func privateFiles() { syscall.Umask(0o077) }
