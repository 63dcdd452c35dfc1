//go:build !linux

package main

// isShared reports whether another machine may have the directory. It is not known
// here, so that it may.
func isShared(string) (bool, error) { return true, nil }

// bootID returns a name of this machine since its start; it is not known here.
func bootID() string { return "" }
