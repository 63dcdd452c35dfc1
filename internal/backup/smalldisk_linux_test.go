package backup

import (
	"syscall"
	"testing"
)

// smallDisk mounts a disk of 256 KiB.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}
