//go:build !linux

package main

import "os"

// isShared reports whether another machine may have the directory. It is not known
// here, so that it may.
func isShared(string) (bool, error) { return true, nil }

// bootID returns a name of this machine since its start; it is not known here.
func bootID() string { return "" }

// born returns when a file was made; it is not known here.
func born(*os.File) int64 { return 0 }
