//go:build linux || darwin

package disk

import "syscall"

// Free returns the bytes of the disk of a directory that this process may still use, and all of them.
func Free(dir string) (free, all int64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, 0, err
	}
	size := int64(disk.Bsize) //nolint:unconvert // it has another type on macOS
	return int64(disk.Bavail) * size, int64(disk.Blocks) * size, nil
}
