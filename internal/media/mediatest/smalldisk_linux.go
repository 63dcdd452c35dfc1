package mediatest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// SmallDisk returns a directory on a file system of 1 MiB, which takes the right to mount one.
func SmallDisk(t *testing.T) string {
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
	return dir
}

// FullOfFiles returns a directory on a small disk that is nearly full, and a function that removes
// one of its three files.
func FullOfFiles(t *testing.T) (dir string, makeRoom func(int64) bool) {
	t.Helper()
	dir = SmallDisk(t)
	var files []string
	for _, name := range []string{"a", "b", "c"} {
		files = append(files, filepath.Join(dir, name))
		Write(t, filepath.Join(dir, name), make([]byte, 300<<10))
	}
	return dir, func(int64) bool {
		if len(files) == 0 {
			return false
		}
		defer func() { files = files[1:] }()
		return os.Remove(files[0]) == nil
	}
}
