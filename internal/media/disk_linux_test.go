package media

import (
	"syscall"
	"testing"
)

// smallDisk returns a cache on a file system of 1 MiB, which takes the right to
// mount one.
func smallDisk(t *testing.T) (*Cache, *fakeCDN) {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	cdn := newCDN(t)
	return openTestCache(t, dir, 1<<30, cdn), cdn
}
