package files

import (
	"bytes"
	"cmp"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"bridged/internal/media/cdn"
	"bridged/internal/media/disk"
)

const (
	namePrefix = "file-" // of cached files
	// partialPrefix begins the names of temporary files, such as downloads in progress. They are removed
	// at the start.
	partialPrefix = "partial-"
)

// ownName matches the names of cached files, with the hash of their contents. Other files are left alone.
var ownName = regexp.MustCompile("^(" + namePrefix + "[0-9a-f]{64})-([0-9a-f]{64})$")

// lru has a directory's files in the order of use. The time of use is the time of modification, so it
// survives restarts. Only path and createPartial may be called without the cache's mu.
type lru struct {
	dir    string
	max    int64
	total  int64
	byName map[string]*list.Element
	order  *list.List // of *entry, the most recently used first
}

// entry is a file in the lru.
type entry struct {
	name string
	cdn.Content
	holders  int       // readers that have it open or are about to
	verified bool      // by this process; a file found at the start may be damaged
	at       time.Time // of the last use before the start; of pictures, when they were fetched
	unwanted bool      // forgotten, but could not be removed yet
}

func newLRU(dir string, limit int64) (*lru, error) {
	l := &lru{dir: dir, max: limit, byName: map[string]*list.Element{}, order: list.New()}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := l.scan(); err != nil {
		return nil, err
	}
	l.shrink(l.max)
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
		b := l.put(parts[1], cdn.Content{Sha256: sum, Size: info.Size()})
		b.verified, b.at = false, info.ModTime()
	}
	return nil
}

func (l *lru) path(name string, sum []byte) string {
	return filepath.Join(l.dir, name+"-"+hex.EncodeToString(sum))
}

func (l *lru) createPartial() (*os.File, error) { return disk.CreateIn(l.dir, partialPrefix+"*") }

// find returns a file that is in the lru, nil if it is not, and marks it as used.
func (l *lru) find(name string) *entry {
	element := l.byName[name]
	if element == nil || element.Value.(*entry).unwanted {
		return nil
	}
	l.order.MoveToFront(element)
	return element.Value.(*entry)
}

func (l *lru) put(name string, what cdn.Content) *entry {
	element := l.byName[name]
	if element == nil {
		element = l.order.PushFront(&entry{name: name})
		l.byName[name] = element
	}
	l.order.MoveToFront(element)
	b := element.Value.(*entry)
	l.total += what.Size - b.Size
	b.Content, b.verified, b.unwanted = what, true, false
	return b
}

// read returns a small file that was written at once; nil if it is not there, or damaged.
func (l *lru) read(b *entry) []byte {
	data, err := os.ReadFile(l.path(b.name, b.Sha256))
	if sum := sha256.Sum256(data); err == nil && bytes.Equal(sum[:], b.Sha256) {
		return data
	}
	l.discard(b)
	return nil
}

// write replaces a file by a small one with a time of modification.
func (l *lru) write(name string, data []byte, at time.Time) error {
	if err := l.forget(name); err != nil {
		return err
	}
	file, err := l.createPartial()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	_, err = file.Write(data)
	err = errors.Join(err, file.Close(), os.Chtimes(file.Name(), at, at))
	if err == nil {
		err = os.Rename(file.Name(), l.path(name, sum[:]))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	l.put(name, cdn.Content{Sha256: sum[:], Size: int64(len(data))}).at = at
	return nil
}

// discard removes a lost file from the lru and the disk, unless another has replaced it.
func (l *lru) discard(b *entry) {
	if element := l.byName[b.name]; element != nil && element.Value.(*entry) == b {
		_ = os.Remove(l.path(b.name, b.Sha256)) // most likely it is not there
		l.drop(element)
	}
}

// forget removes a file from the disk, even if it is open. One that cannot be removed is
// no longer found, and the first to be evicted.
func (l *lru) forget(name string) error {
	element := l.byName[name]
	if element == nil {
		return nil
	}
	element.Value.(*entry).unwanted = true
	l.order.MoveToBack(element)
	return l.remove(element)
}

// remove removes a file from the disk, and from the lru unless that fails.
func (l *lru) remove(element *list.Element) error {
	b := element.Value.(*entry)
	if err := os.Remove(l.path(b.name, b.Sha256)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.drop(element)
	return nil
}

func (l *lru) drop(element *list.Element) {
	b := l.order.Remove(element).(*entry)
	delete(l.byName, b.name)
	l.total -= b.Size
}

func (l *lru) release(b *entry) {
	b.holders--
	if b.holders == 0 && strings.HasPrefix(b.name, partialPrefix) {
		l.discard(b)
	}
	l.shrink(l.max)
}

// excess returns by how many bytes open files exceed the limit.
func (l *lru) excess() int64 { return max(0, l.total-l.max) }

// shrink removes forgotten files, and then the least recently used files that are not held until the
// total is at most limit bytes. It returns how many bytes it removed.
func (l *lru) shrink(limit int64) (removed int64) {
	for element := l.order.Back(); element != nil; {
		b, last := element.Value.(*entry), element
		element = element.Prev()
		switch {
		case b.unwanted:
		case l.total <= limit:
			return removed
		case b.holders > 0:
			continue
		}
		if l.remove(last) == nil {
			removed += b.Size
		}
	}
	return removed
}
