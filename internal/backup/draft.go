package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"bridged/internal/dbfile"
)

const (
	// partSuffix ends the names of incomplete backups.
	partSuffix = ".part"
	// journalSuffix ends the names of SQLite's journals of them. SQLite would apply one to the next draft.
	journalSuffix = "-journal"
)

// draft is an incomplete backup. It is locked as long as it is written, so that others can tell whether
// its process still runs.
type draft struct {
	target string // its name once it is complete
	path   string
	file   *os.File
	moved  bool
}

// newDraft creates an empty draft next to its target. It takes over a draft that a killed process left.
func newDraft(target string) (*draft, error) {
	d := &draft{target: target, path: target + partSuffix}
	for {
		file, err := os.OpenFile(d.path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("%w (choose a directory that the user of this process may write)", err)
		}
		switch held, err := lockPart(d.path, file); {
		case errors.Is(err, dbfile.ErrLocked):
			return nil, errors.Join(fmt.Errorf("another process is writing %s: wait for its end", d.path), file.Close())
		case err != nil:
			return nil, errors.Join(err, file.Close())
		case !held: // it was removed or renamed before it was locked
			if err := file.Close(); err != nil {
				return nil, err
			}
			continue
		}
		d.file = file
		if err := errors.Join(removeIfThere(d.path+journalSuffix), file.Truncate(0), file.Chmod(0o600)); err != nil {
			return nil, errors.Join(err, d.discard())
		}
		return d, nil
	}
}

// lockPart locks an open file, and reports whether it still has its name. File systems without locks,
// such as some network mounts, are used without them.
func lockPart(path string, file *os.File) (held bool, err error) {
	if err := dbfile.Lock(file); errors.Is(err, dbfile.ErrLocked) {
		return false, err
	}
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}

// publish gives the draft its name. The draft is on the disk.
func (d *draft) publish(replace bool) error {
	if runtime.GOOS == "windows" { // which does not rename open files
		if err := d.file.Close(); err != nil {
			return err
		}
	}
	if err := d.rename(replace); err != nil {
		return err
	}
	d.moved = true
	return dbfile.SyncDir(filepath.Dir(d.target))
}

// rename makes a link first, because renaming would replace a file that another process has made.
func (d *draft) rename(replace bool) error {
	if !replace {
		switch err := os.Link(d.path, d.target); {
		case err == nil:
			return os.Remove(d.path)
		case errors.Is(err, fs.ErrExist):
			return existing(d.target)
		}
		if _, err := os.Lstat(d.target); err == nil { // the file system has no links
			return existing(d.target)
		}
	}
	return os.Rename(d.path, d.target)
}

// close ends the use of the draft, and removes it unless it was published.
func (d *draft) close() {
	if d.moved {
		_ = d.file.Close() // it is on the disk
		return
	}
	_ = d.discard() // the next backup removes the rest
}

func (d *draft) discard() error {
	return errors.Join(removeIfThere(d.path+journalSuffix), os.Remove(d.path), d.file.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removePart removes a draft that a killed process left. It leaves one that is being written.
func removePart(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return removeIfThere(path + journalSuffix)
	case err != nil:
		return err
	}
	held, err := lockPart(path, file)
	if errors.Is(err, dbfile.ErrLocked) || err == nil && !held {
		return file.Close()
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(removeIfThere(path+journalSuffix), os.Remove(path), file.Close())
}
