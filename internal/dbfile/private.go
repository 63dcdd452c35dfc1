package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// MakePrivate gives a file or directory a mode that shuts other users out. A file system without
// modes, such as a mounted Windows share, causes no error: [Exposed] names it.
func MakePrivate(path string, mode os.FileMode) error {
	err := os.Chmod(path, mode)
	if err == nil {
		return nil
	}
	if info, statErr := os.Stat(path); statErr == nil && info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if owner, user := owners(path); owner == user && errors.Is(err, fs.ErrPermission) {
		return nil // the owner may change modes, so the file system has none
	}
	return ExplainFile(path, err)
}

// Exposed returns a sentence if other users of the machine can read a data directory, although
// bridged sets its mode at the start. It is empty if they cannot.
func Exposed(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("DATA_DIR has the mode %04o, so other users of this machine may read the account's keys and messages: "+
		"its file system ignores chmod, as mounted Windows shares do; mount it with uid, dir_mode=0700 and file_mode=0600, or use a local file system", info.Mode().Perm())
}
