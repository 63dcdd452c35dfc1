//go:build !linux

package backup

import "testing"

// smallDisk skips the test, because no disk can be mounted here.
func smallDisk(t *testing.T, _ string) {
	t.Helper()
	t.Skip("only Linux mounts disks in memory")
}
