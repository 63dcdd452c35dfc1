package dbfile

import (
	"errors"
	"os"
)

// SyncDir brings the names in a directory onto the disk: a file that was renamed there
// keeps its new name over a power cut.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
