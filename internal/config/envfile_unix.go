//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// exposure says what makes a file private, if others than the user of this process may read or
// change it.
func exposure(name string, info fs.FileInfo) string {
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Sprintf("%s belongs to another user: make it yours with chown, for it may hold secrets", name)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Sprintf("%s is open to other users (mode %04o): make it private with: chmod 600 %s", name, mode, name)
	}
	return ""
}
