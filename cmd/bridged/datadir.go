package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bridged/internal/dbfile"
)

// dataDir is DATA_DIR, which this process has locked.
type dataDir struct {
	path  string
	lock  *os.File      // a file that is garbage collected would release its lock
	watch *dbfile.Watch // notices when the directory or a file in it is removed
}

// openDataDir creates the directory, locks it and empties tmp/.
func openDataDir(path string) (*dataDir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		if reason := dbfile.ExplainDir(path); reason != nil {
			return nil, fmt.Errorf("open %s: %w", path, reason.Because(err))
		}
		return nil, fmt.Errorf("DATA_DIR %s cannot be created: %w (choose a directory that the user of this process may write)", path, err)
	}
	if err := dbfile.MakePrivate(path, 0o700); err != nil {
		if reason := dbfile.ExplainDir(path); reason != nil {
			err = reason.Because(err)
		}
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	d := &dataDir{path: path}
	lock, err := os.OpenFile(d.file("bridged.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, explained(d.file("bridged.lock"), err)
	}
	if err := dbfile.Lock(lock); err != nil {
		return nil, errors.Join(explainLock(path, err), lock.Close())
	}
	d.lock = lock
	if d.watch, err = dbfile.NewWatch(path); err == nil {
		err = d.watch.Add(d.file("bridged.lock"))
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	if err := d.prepare(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// explainLock returns the error of a data directory that cannot be locked.
func explainLock(path string, err error) error {
	if errors.Is(err, dbfile.ErrLocked) {
		return fmt.Errorf("another bridged is using DATA_DIR %s: stop it first, or give this one another directory (%w)", path, err)
	}
	return fmt.Errorf("DATA_DIR %s cannot be locked: %w (use a local file system, or mount the network file system with locks, so that two processes cannot use one session)", path, err)
}

// explained returns the error of a file of the data directory that cannot be used, with its cause.
func explained(path string, err error) error {
	return fmt.Errorf("open %s: %w", path, dbfile.ExplainFile(path, err))
}

func (d *dataDir) prepare() error {
	if err := os.RemoveAll(d.file("tmp")); err != nil {
		return explained(d.file("tmp"), err)
	}
	if err := os.Mkdir(d.file("tmp"), 0o700); err != nil {
		return explained(d.file("tmp"), err)
	}
	if err := os.MkdirAll(d.file("media"), 0o700); err != nil {
		return explained(d.file("media"), err)
	}
	return nil
}

func (d *dataDir) file(name string) string { return filepath.Join(d.path, name) }

func (d *dataDir) close() error { return d.lock.Close() }
