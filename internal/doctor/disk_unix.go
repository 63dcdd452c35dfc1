//go:build linux || darwin

package doctor

import "syscall"

// freeBytes returns the disk space that is left for this process.
func freeBytes(path string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return 0, err
	}
	return disk.Bavail * uint64(disk.Bsize), nil
}
