package media

import (
	"cmp"
	"container/list"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	namePrefix = "file-" // of files that are kept
	// partialPrefix begins the names of downloads under way, and of files that are not
	// kept once they are closed. Those of an earlier process are removed at the start.
	partialPrefix = "partial-"
)

// ownName matches the names of kept files on the disk, with the hash of their contents.
// Files with other names are left alone.
var ownName = regexp.MustCompile("^(" + namePrefix + "[0-9a-f]{64})-([0-9a-f]{64})$")

// lru keeps track of the files in a cache's directory, in the order of use. The time of
// use is the files' modification time, so it survives restarts. Only path and
// createPartial may be called without the cache's mu.
type lru struct {
	dir    string
	max    int64
	total  int64
	byName map[string]*list.Element
	order  *list.List // of *entry, the most recently used first
	// unwanted has the paths of forgotten files that could not be removed yet, by name.
	unwanted map[string]string
}

// entry is a file that is kept.
type entry struct {
	name string
	content
	holders  int       // readers that have it open or are about to
	verified bool      // by this process; a file found at the start may be damaged
	at       time.Time // of the last use before the start; of pictures, when they were fetched
	gone     bool      // no longer kept
}

func newLRU(dir string, limit int64) (*lru, error) {
	l := &lru{dir: dir, max: limit, byName: map[string]*list.Element{}, order: list.New(), unwanted: map[string]string{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := l.scan(); err != nil {
		return nil, err
	}
	l.evict()
	return l, nil
}

// scan puts the directory's files in the lru, and removes partial ones.
func (l *lru) scan() error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	var found []fs.FileInfo
	for _, entry := range entries {
		switch info, err := entry.Info(); {
		case errors.Is(err, fs.ErrNotExist): // gone since
		case err != nil:
			return err
		case !info.Mode().IsRegular():
		case ownName.MatchString(info.Name()):
			found = append(found, info)
		case strings.HasPrefix(info.Name(), partialPrefix):
			if err := os.Remove(filepath.Join(l.dir, info.Name())); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range found {
		parts := ownName.FindStringSubmatch(info.Name())
		sum, err := hex.DecodeString(parts[2])
		if err != nil {
			return err
		}
		b := l.put(parts[1], content{sha256: sum, size: info.Size()})
		b.verified, b.at = false, info.ModTime()
	}
	return nil
}

func (l *lru) path(name string, sum []byte) string {
	return filepath.Join(l.dir, name+"-"+hex.EncodeToString(sum))
}

func (l *lru) createPartial() (*os.File, error) { return createIn(l.dir, partialPrefix+"*") }

// createIn creates a temporary file in a directory that may have been wiped. It creates
// none above that: if the whole data directory is gone, nothing should take its place.
func createIn(dir, pattern string) (*os.File, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.CreateTemp(dir, pattern)
}

// find returns a file that is in the lru, nil if it is not, and marks it as used.
func (l *lru) find(name string) *entry {
	element := l.byName[name]
	if element == nil {
		return nil
	}
	l.order.MoveToFront(element)
	return element.Value.(*entry)
}

func (l *lru) put(name string, what content) *entry {
	b := l.find(name)
	if b == nil {
		b = &entry{name: name}
		l.byName[name] = l.order.PushFront(b)
	}
	delete(l.unwanted, name)
	l.total += what.size - b.size
	b.content, b.verified = what, true
	return b
}

// discard removes a lost file from the lru and the disk, unless another has replaced it
// since.
func (l *lru) discard(b *entry) {
	if !b.gone {
		_ = os.Remove(l.path(b.name, b.sha256)) // most likely it is not there
		l.drop(b)
	}
}

// forget removes a file from the disk, even if it is open.
func (l *lru) forget(name string) error {
	path, known := l.unwanted[name]
	if element := l.byName[name]; element != nil {
		b := element.Value.(*entry)
		l.drop(b)
		path, known = l.path(b.name, b.sha256), true
	}
	if !known {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.unwanted[name] = path
		return err
	}
	delete(l.unwanted, name)
	return nil
}

func (l *lru) drop(b *entry) {
	b.gone = true
	l.order.Remove(l.byName[b.name])
	delete(l.byName, b.name)
	l.total -= b.size
}

func (l *lru) release(b *entry) {
	b.holders--
	if b.holders == 0 && strings.HasPrefix(b.name, partialPrefix) {
		l.discard(b)
	}
	l.evict()
}

// excess returns how many bytes are kept beyond the limit, because they are open.
func (l *lru) excess() int64 { return max(0, l.total-l.max) }

// evict removes files beyond the limit, and forgotten ones that are still there.
func (l *lru) evict() {
	for name, path := range l.unwanted {
		if err := os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			delete(l.unwanted, name)
		}
	}
	l.shrink(l.max)
}

// shrink removes the least recently used files until at most limit bytes are kept, but
// none that is held, and returns how many bytes it removed. A file that cannot be
// removed stays in the lru.
func (l *lru) shrink(limit int64) (removed int64) {
	for element := l.order.Back(); element != nil && l.total > limit; {
		b := element.Value.(*entry)
		element = element.Prev()
		if b.holders > 0 {
			continue
		}
		if err := os.Remove(l.path(b.name, b.sha256)); err == nil || errors.Is(err, fs.ErrNotExist) {
			l.drop(b)
			removed += b.size
		}
	}
	return removed
}
