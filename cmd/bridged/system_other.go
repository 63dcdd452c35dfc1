//go:build !unix

package main

import (
	"context"
	"errors"
	"io"
	"os"
)

// errLocked is the error of a lock that another process has. It does not happen here.
var errLocked = errors.New("locked")

// lockFile does nothing without flock: the operator has to avoid two programs on one
// data directory.
func lockFile(*os.File) error { return nil }

// privateFiles does nothing where there is no file mode.
func privateFiles() {}

// outliveReaders does nothing where there is no SIGPIPE.
func outliveReaders() {}

// watchOutput does nothing here: only writing notices that a pipe has no reader.
func watchOutput(context.Context, io.Writer, func()) {}

// inode returns 0: files have no such number here.
func inode(*os.File) (uint64, error) { return 0, nil }
