//go:build linux || darwin

package disk

import "syscall"

func freeBytes(dir string) (free, all int64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, 0, err
	}
	size := int64(disk.Bsize) //nolint:unconvert // it has another type on macOS
	return int64(disk.Bavail) * size, int64(disk.Blocks) * size, nil
}
