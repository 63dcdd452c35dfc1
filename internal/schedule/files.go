package schedule

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
)

// files stores the files of scheduled messages in a directory, each under its name; see [fileName].
type files struct{ dir string }

// partSuffix ends the names of files that are not complete.
const partSuffix = ".part"

// fileName returns the name of a message's file. The first one has the message's id, which has no hyphen; those of an
// album that follow have their number after it.
func fileName(id string, at int) string {
	if at == 0 {
		return id
	}
	return id + "-" + strconv.Itoa(at)
}

func (f files) path(name string) string { return filepath.Join(f.dir, name) }

// take moves a temporary file here and returns its size. The file is on the disk when take returns.
func (f files) take(from, name string) (size int64, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return 0, disk.Failed(err)
	}
	part := f.path(name) + partSuffix
	if err := os.Rename(from, part); err != nil { // it may be on another disk
		if err := copyFile(from, part); err != nil {
			return 0, disk.Failed(errors.Join(err, os.Remove(part)))
		}
	}
	if size, err = syncFile(part); err == nil {
		err = os.Rename(part, f.path(name))
	}
	if err == nil {
		_, err = syncFile(f.dir)
	}
	if err != nil {
		return 0, disk.Failed(errors.Join(err, f.remove(name)))
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

// remove removes a file, if it is there.
func (f files) remove(name string) error {
	for _, path := range []string{f.path(name), f.path(name) + partSuffix} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeAll removes the files of a message, if it has any.
func (f files) removeAll(id string) (err error) {
	for i := range bridge.MaxAlbum {
		err = errors.Join(err, f.remove(fileName(id, i)))
	}
	return err
}

// sweep removes the files that are not needed.
func (f files) sweep(isNeeded func(id string) (bool, error)) error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		name, isPart := strings.CutSuffix(entry.Name(), partSuffix)
		id, _, _ := strings.Cut(name, "-")
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
