package schedule

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bridged/internal/media/disk"
)

// files stores the files of scheduled messages in a directory, each under the id of its message.
type files struct{ dir string }

// partSuffix ends the names of files that are not complete.
const partSuffix = ".part"

func (f files) path(id string) string { return filepath.Join(f.dir, id) }

// take moves a temporary file here and returns its size. The file is on the disk when take returns.
func (f files) take(from, id string) (size int64, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return 0, disk.Failed(err)
	}
	part := f.path(id) + partSuffix
	if err := os.Rename(from, part); err != nil { // it may be on another disk
		if err := copyFile(from, part); err != nil {
			return 0, disk.Failed(errors.Join(err, os.Remove(part)))
		}
	}
	if size, err = syncFile(part); err == nil {
		err = os.Rename(part, f.path(id))
	}
	if err == nil {
		_, err = syncFile(f.dir)
	}
	if err != nil {
		return 0, disk.Failed(errors.Join(err, f.remove(id)))
	}
	return size, nil
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}

// syncFile waits until a file or a directory is on the disk, and returns its size.
func syncFile(path string) (size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, errors.Join(err, file.Close())
	}
	return info.Size(), errors.Join(file.Sync(), file.Close())
}

// remove removes the file of a message, if it has one.
func (f files) remove(id string) error {
	for _, path := range []string{f.path(id), f.path(id) + partSuffix} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sweep removes the files that are not needed.
func (f files) sweep(isNeeded func(id string) (bool, error)) error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		id, isPart := strings.CutSuffix(entry.Name(), partSuffix)
		needed := false
		if !isPart && err == nil {
			needed, err = isNeeded(id)
		}
		if err != nil {
			return err
		}
		if !needed {
			err = os.Remove(f.path(entry.Name()))
		}
	}
	return err
}
