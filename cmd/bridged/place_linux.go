package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownFileSystems are those that one machine has for itself (statfs(2)): ext2 to 4,
// xfs, btrfs, zfs, f2fs, bcachefs, tmpfs, ramfs and overlayfs. All others may be
// another machine's, too.
var ownFileSystems = []uint32{
	0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e, 0x01021994, 0x858458f6, 0x794c7630,
}

// isShared reports whether another machine may have the directory.
func isShared(path string) (bool, error) {
	var about syscall.Statfs_t
	if err := syscall.Statfs(path, &about); err != nil {
		return false, err
	}
	return !slices.Contains(ownFileSystems, uint32(about.Type)), nil
}

// bootID returns a name of this machine since its start, which its containers share;
// empty where there is none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// born returns when a file was made, in nanoseconds; 0 where the file system or the
// kernel does not tell. A copy never has it.
func born(f *os.File) int64 {
	var about unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &about)
	if err != nil || about.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return time.Unix(about.Btime.Sec, int64(about.Btime.Nsec)).UnixNano()
}
