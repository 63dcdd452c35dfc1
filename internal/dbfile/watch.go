package dbfile

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"bridged/internal/bridge"
)

// Watch notices that files are not those any more that were opened: removed
// with their directory, on a volume that was unmounted, replaced by others.
// SQLite goes on writing into such a file, and what it writes is lost. A check
// costs about a microsecond for each file, so it can be asked after every
// commit.
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
func (w *Watch) AddDatabase(path string) error {
	return w.Add(path, path+"-wal", path+"-shm")
}

// Check returns a [bridge.CodeStorageUnavailable] error while a file is not
// the one that was opened. It is nil again when the same files are back, and
// while nothing is watched (a nil Watch).
func (w *Watch) Check() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, file := range w.files {
		if err := file.check(); err != nil {
			return w.sentence(file.path).Because(err)
		}
	}
	return nil
}

var errReplaced = errors.New("it is another file than the one that was opened")

func (f watched) check() error {
	now, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if !os.SameFile(f.info, now) {
		return fmt.Errorf("%s: %w", f.path, errReplaced)
	}
	return nil
}

func (w *Watch) sentence(path string) *bridge.Error {
	what := "the data directory"
	if path != w.dir {
		what = "a file of the data directory"
	}
	return bridge.Fail(bridge.CodeStorageUnavailable,
		"%s (%s) was removed or replaced while bridged was running, so nothing more is taken: put it back, or restart bridged to go on with what is there now", what, path)
}
