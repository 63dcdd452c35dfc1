//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// fileNumbers returns what tells an open file from all others of the machine.
func fileNumbers(f *os.File) (device, inode uint64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	about, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("%s has no inode", f.Name())
	}
	return uint64(about.Dev), uint64(about.Ino), nil
}
