//go:build linux || darwin

package doctor

import "syscall"

// mayWrite returns why this process may not write to a directory, without trying it.
func mayWrite(path string) error {
	const write, search = 2, 1
	return syscall.Access(path, write|search)
}

// freeBytes returns the disk space that is left for this process.
func freeBytes(path string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return 0, err
	}
	return disk.Bavail * uint64(disk.Bsize), nil
}
