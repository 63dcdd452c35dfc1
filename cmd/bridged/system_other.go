//go:build !unix

package main

import (
	"context"
	"io"
	"os"
)

// lockFile does nothing where there is no flock: two programs on one data
// directory are then the operator's to avoid.
func lockFile(*os.File) error { return nil }

// privateFiles does nothing where there is no file mode.
func privateFiles() {}

// watchOutput does nothing here: a pipe that nobody reads is noticed when it is
// written to.
func watchOutput(context.Context, io.Writer, func()) (end func()) { return func() {} }

// inode returns 0: files have no such number here.
func inode(*os.File) (uint64, error) { return 0, nil }
