//go:build linux || darwin

package media

import "syscall"

func freeBytes(dir string) (free, all int64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), int64(disk.Blocks) * int64(disk.Bsize), nil
}
