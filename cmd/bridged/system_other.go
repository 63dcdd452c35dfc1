//go:build !unix

package main

import (
	"context"
	"io"
	"os"
)

// privateFiles does nothing, because files have no mode.
func privateFiles() {}

// ignoreSIGPIPE does nothing, because the system has no such signal.
func ignoreSIGPIPE() {}

// watchOutput does nothing: a command notices that its output is closed when it writes.
func watchOutput(context.Context, io.Writer, func()) {}

// inode returns 0, because files have no such number.
func inode(*os.File) (uint64, error) { return 0, nil }
