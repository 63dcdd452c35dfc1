//go:build linux || darwin

package doctor

import "syscall"

// mayWrite reports why this process may not write to a directory, without
// trying it.
func mayWrite(path string) error {
	const write, search = 2, 1
	return syscall.Access(path, write|search)
}

// freeBytes returns how much this process may still store on a disk.
func freeBytes(path string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return 0, err
	}
	return disk.Bavail * uint64(disk.Bsize), nil
}
