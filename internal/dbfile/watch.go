package dbfile

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"bridged/internal/bridge"
)

// Watch notices when open files are removed, unmounted or replaced: SQLite would go on writing
// into them. A check takes about a microsecond for each file.
type Watch struct {
	dir string

	mu    sync.Mutex
	files []watched // guarded by mu
}

// watched is a file as it was when it was opened.
type watched struct {
	path string
	info os.FileInfo
}

// NewWatch watches a directory. Files in it are added as they are opened.
func NewWatch(dir string) (*Watch, error) {
	w := &Watch{dir: dir}
	return w, w.Add(dir)
}

// Add watches files that exist.
func (w *Watch) Add(paths ...string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("watch %s: %w", path, err)
		}
		w.files = append(w.files, watched{path, info})
	}
	return nil
}

// AddDatabase watches a database that is open, with its write-ahead log.
func (w *Watch) AddDatabase(path string) error { return w.Add(filesOf(path)...) }

// RemoveDatabase no longer watches a database that is about to be closed: SQLite removes its
// write-ahead log then. It does nothing on nil.
func (w *Watch) RemoveDatabase(path string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files = slices.DeleteFunc(w.files, func(one watched) bool { return slices.Contains(filesOf(path), one.path) })
}

// filesOf returns the files of an open database.
func filesOf(path string) []string { return []string{path, path + "-wal", path + "-shm"} }

// Check returns a [bridge.CodeStorageUnavailable] error while a file is not the one that was
// opened; nil for a nil Watch.
func (w *Watch) Check() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, opened := range w.files {
		now, err := os.Stat(opened.path)
		if err == nil && !os.SameFile(opened.info, now) {
			err = errReplaced
		}
		if err == nil {
			continue
		}
		what := "the data directory"
		if opened.path != w.dir {
			what = "a file of the data directory"
		}
		return bridge.Fail(bridge.CodeStorageUnavailable, "%s (%s) was removed or replaced while bridged was running, so it receives no more messages: "+
			"put it back, or restart bridged to go on with what is there now", what, opened.path).Because(err)
	}
	return nil
}

var errReplaced = errors.New("it is another file than the one that was opened")
