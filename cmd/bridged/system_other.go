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

// lockFile does nothing, because there is no flock. The operator must not start two programs on one data
// directory.
func lockFile(*os.File) error { return nil }

// privateFiles does nothing, because files have no mode.
func privateFiles() {}

// ignoreSIGPIPE does nothing, because the system has no such signal.
func ignoreSIGPIPE() {}

// watchOutput does nothing: a command notices that its output is closed when it writes.
func watchOutput(context.Context, io.Writer, func()) {}

// inode returns 0, because files have no such number.
func inode(*os.File) (uint64, error) { return 0, nil }
