//go:build linux || darwin

package dbfile

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayUse returns why this process may not read and write a file, or a directory with the files in
// it, without trying it.
func mayUse(path string, isDir bool) error {
	mode := uint32(unix.R_OK | unix.W_OK)
	if isDir {
		mode |= unix.X_OK
	}
	return unix.Access(path, mode)
}

// owners returns the numbers of the user that a file belongs to and of the user of this process.
func owners(path string) (owner, user string) {
	user = strconv.Itoa(os.Getuid())
	info, err := os.Stat(path)
	if err != nil {
		return "unknown", user
	}
	about, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown", user
	}
	return strconv.FormatUint(uint64(about.Uid), 10), user
}

// SQLite's lock bytes. A connection that excludes all others locks the first range, in the database file
// (sqlite3.c, PENDING_BYTE and SHARED_FIRST); a writer, a checkpoint and a recovery lock the second one, in the
// shared memory (sqlite.org/walformat.html, 2.3.1).
const (
	pendingByte, pendingSize = 0x40000000, 512
	walLocks, walLocksSize   = 120, 3
)

// probe returns whether another program excludes this one, and whether the file system lacks what
// SQLite needs: locks, and memory that processes share.
func (d Database) probe(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return d.ExplainOpening(path, err)
	}
	defer file.Close()
	if err := d.probeLock(file, pendingByte, pendingSize); err != nil {
		return err
	}
	page, err := unix.Mmap(int(file.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return unusable("%s", noSharedMemory(d.Name)).Because(err)
	}
	if err := unix.Munmap(page); err != nil {
		return d.Explain(err)
	}
	shm, err := os.OpenFile(path+"-shm", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return d.ExplainOpening(path, err)
	}
	defer shm.Close()
	return d.probeLock(shm, walLocks, walLocksSize)
}

func (d Database) probeLock(file *os.File, start, size int64) error {
	lock := unix.Flock_t{Type: unix.F_RDLCK, Start: start, Len: size}
	switch err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); {
	case err != nil:
		return unusable("%s", noLocks(d.Name)).Because(err)
	case lock.Type != unix.F_UNLCK:
		return unusable("%s", locked(d.Name))
	}
	return nil
}
