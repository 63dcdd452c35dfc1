//go:build !linux

package mediatest

import "testing"

// SmallDisk skips the test: no small disk can be mounted here.
func SmallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("no small disk can be mounted here")
	return ""
}

// FullOfFiles skips the test.
func FullOfFiles(t *testing.T) (dir string, makeRoom func(int64) bool) {
	t.Helper()
	return SmallDisk(t), nil
}
