package media

import (
	"cmp"
	"container/list"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// partialPrefix begins the names of downloads under way. Those of an earlier
// process are removed when the directory is opened.
const partialPrefix = "partial-"

// namePrefix begins the names of files that are kept.
const namePrefix = "file-"

// ownName is what the cache calls its files, and formerName what it called them
// when their names came from a hash that nobody checked: these are removed, as
// nothing names them any more. Others are left alone.
var (
	ownName    = regexp.MustCompile("^" + namePrefix + "[0-9a-f]{64}$")
	formerName = regexp.MustCompile("^[0-9a-f]{64}$")
)

// shelf is the cache's directory: what lies there, in the order of use. The
// time of use is the files' modification time, so it survives restarts. It is
// guarded by the cache's mu, but for path and createPartial, which need no state.
type shelf struct {
	dir    string
	max    int64
	total  int64
	byName map[string]*list.Element
	order  *list.List // of *book, the most recently used first
	// unwanted are forgotten files that could not be removed yet, by name.
	unwanted map[string]struct{}
}

// book is a file on the shelf.
type book struct {
	name     string
	size     int64
	holders  int  // who has it open or is about to
	verified bool // by this process: what was found at the start may have suffered
	gone     bool // no longer on the shelf
}

func newShelf(dir string, limit int64) (*shelf, error) {
	s := &shelf{dir: dir, max: limit, byName: map[string]*list.Element{}, order: list.New(), unwanted: map[string]struct{}{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := s.scan(); err != nil {
		return nil, err
	}
	s.evict()
	return s, nil
}

// scan puts what lies in the directory on the shelf, the newest first.
func (s *shelf) scan() error {
	entries, err := os.ReadDir(s.dir)
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
		case strings.HasPrefix(info.Name(), partialPrefix), formerName.MatchString(info.Name()):
			if err := os.Remove(filepath.Join(s.dir, info.Name())); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range found {
		s.put(info.Name(), info.Size()).verified = false
	}
	return nil
}

func (s *shelf) path(name string) string { return filepath.Join(s.dir, name) }

// createPartial makes a file for a download under way.
func (s *shelf) createPartial() (*os.File, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil { // somebody may have wiped it
		return nil, err
	}
	return os.CreateTemp(s.dir, partialPrefix+"*")
}

// find answers a file that is on the shelf, and nil otherwise. Being asked for
// is being used.
func (s *shelf) find(name string) *book {
	element := s.byName[name]
	if element == nil {
		return nil
	}
	s.order.MoveToFront(element)
	return element.Value.(*book)
}

// put notes a verified file that lies in the directory.
func (s *shelf) put(name string, size int64) *book {
	b := s.find(name)
	if b == nil {
		b = &book{name: name}
		s.byName[name] = s.order.PushFront(b)
	}
	delete(s.unwanted, name)
	s.total += size - b.size
	b.size, b.verified = size, true
	return b
}

// discard takes a file that is not what it was off the shelf and the disk. It
// leaves alone what has come in its place since.
func (s *shelf) discard(b *book) {
	if !b.gone {
		_ = os.Remove(s.path(b.name)) // most likely it is not there
		s.drop(b)
	}
}

// forget removes a file from the disk, whoever has it open.
func (s *shelf) forget(name string) error {
	element := s.byName[name]
	if element == nil {
		return nil
	}
	s.drop(element.Value.(*book))
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.unwanted[name] = struct{}{}
		return err
	}
	return nil
}

// drop takes a file out of the books.
func (s *shelf) drop(b *book) {
	b.gone = true
	s.order.Remove(s.byName[b.name])
	delete(s.byName, b.name)
	s.total -= b.size
}

// release ends a hold.
func (s *shelf) release(b *book) {
	b.holders--
	s.evict()
}

// evict makes room: the files longest unused go, but none that is held. One
// that cannot be removed stays noted, and is tried again when there is reason to.
func (s *shelf) evict() {
	for name := range s.unwanted {
		if err := os.Remove(s.path(name)); err == nil || errors.Is(err, fs.ErrNotExist) {
			delete(s.unwanted, name)
		}
	}
	for element := s.order.Back(); element != nil && s.total > s.max; {
		b := element.Value.(*book)
		element = element.Prev()
		if b.holders > 0 {
			continue
		}
		if err := os.Remove(s.path(b.name)); err == nil || errors.Is(err, fs.ErrNotExist) {
			s.drop(b)
		}
	}
}
