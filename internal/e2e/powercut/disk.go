// Package powercut is a disk for tests whose power can be cut. [Disk] is a file
// system in memory that keeps, beside what is in its files, what of them has
// reached the disk: the bytes of a file as of its last fsync, and the entries of a
// directory as of the directory's last fsync. That is the least that POSIX promises;
// file systems keep more.
//
// [Disk.Mount] shows it to programs, with FUSE. [Disk.Cut] ends the world at one
// moment, and [Disk.Remains] is the disk that is found when the power is back.
package powercut

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"
)

// pageSize is the unit in which the bytes of a file are kept or lost.
const pageSize = 4096

// ErrNoFUSE says that this system mounts no file systems of its users' making.
var ErrNoFUSE = errors.New("FUSE is missing here: there is no /dev/fuse, or no fusermount3, or no right to mount")

// Disk is a file system in memory. It may be used by many goroutines.
type Disk struct {
	mu    sync.Mutex // guards all below, and every file and folder
	root  *folder
	next  uint64 // the number of the next file or folder
	isCut bool   // nothing is read or written any more
	over  chan struct{}
	clock func() time.Time
}

// entry is a file or a folder.
type entry interface {
	about() *attributes
	sync() // brings it onto the disk
}

// attributes are what both kinds have.
type attributes struct {
	ino     uint64
	mode    uint32 // permissions
	changed time.Time
}

func (a *attributes) about() *attributes { return a }

// file is a regular file.
type file struct {
	attributes
	live  []byte
	disk  []byte         // as of the last fsync
	dirty map[int64]bool // pages of live that have changed since then
}

// folder is a directory.
type folder struct {
	attributes
	live map[string]entry
	disk map[string]entry // as of the last fsync
}

// New returns an empty disk.
func New() *Disk {
	d := &Disk{clock: time.Now, over: make(chan struct{})}
	d.root = d.newFolder(0o700)
	return d
}

func (d *Disk) newAttributes(mode uint32) attributes {
	d.next++
	return attributes{ino: d.next, mode: mode & 0o7777, changed: d.clock()}
}

func (d *Disk) newFolder(mode uint32) *folder {
	return &folder{attributes: d.newAttributes(mode), live: make(map[string]entry), disk: make(map[string]entry)}
}

func (d *Disk) newFile(mode uint32) *file {
	return &file{attributes: d.newAttributes(mode), dirty: make(map[int64]bool)}
}

// do runs f on the state of the disk, unless the power is cut.
func (d *Disk) do(f func() syscall.Errno) syscall.Errno {
	d.mu.Lock()
	if d.isCut {
		d.mu.Unlock()
		<-d.over
		return syscall.EIO
	}
	defer d.mu.Unlock()
	return f()
}

// Cut cuts the power: nothing that is written from now on changes the disk, and what
// uses its files waits, until kill has killed it. A program is to do nothing more on
// account of an error that no power cut reports.
func (d *Disk) Cut(kill func()) {
	d.mu.Lock()
	d.isCut = true
	d.mu.Unlock()
	kill()
	close(d.over)
}

// read copies bytes of a file from a position on.
func (f *file) read(into []byte, at int64) int {
	if at >= int64(len(f.live)) {
		return 0
	}
	return copy(into, f.live[at:])
}

// write writes bytes at a place.
func (f *file) write(data []byte, at int64) {
	end := at + int64(len(data))
	if end > int64(len(f.live)) {
		f.resize(end)
	}
	copy(f.live[at:], data)
	f.touch(at, end)
}

// resize cuts a file off, or fills it up with zeros.
func (f *file) resize(size int64) {
	old := int64(len(f.live))
	if size < old {
		clear(f.live[size:]) // so that it is zeros if it grows again
		f.live = f.live[:size]
	} else {
		f.live = append(f.live, make([]byte, size-old)...)
	}
	f.touch(min(old, size), max(old, size))
}

// touch notes that the pages between two places differ from the disk.
func (f *file) touch(from, to int64) {
	for page := from / pageSize; page*pageSize < to; page++ {
		f.dirty[page] = true
	}
}

// sync brings a file onto the disk.
func (f *file) sync() {
	for page := range f.dirty {
		f.keep(page)
	}
	f.disk = resized(f.disk, len(f.live))
	clear(f.dirty)
}

// keep brings one page onto the disk.
func (f *file) keep(page int64) {
	from := int(page * pageSize)
	to := min(from+pageSize, len(f.live))
	if from >= to {
		return
	}
	f.disk = resized(f.disk, max(to, len(f.disk)))
	copy(f.disk[from:to], f.live[from:to])
}

// resized returns data with a length; what is added is zeros.
func resized(data []byte, size int) []byte {
	if size <= len(data) {
		return data[:size:size]
	}
	return append(data, make([]byte, size-len(data))...)
}

// sync brings the entries of a folder onto the disk.
func (f *folder) sync() { f.disk = maps.Clone(f.live) }

// Remains returns the disk that is found after a cut of the power. Of what fsync had
// not brought onto it, what survives reports so remains, too: each page for itself, and
// names all together or none, as a journal keeps them. nil is nothing.
func (d *Disk) Remains(survives func() bool) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if survives == nil {
		survives = func() bool { return false }
	}
	names := func(f *folder) map[string]entry { return f.disk }
	if survives() {
		names = func(f *folder) map[string]entry { return f.live }
	}
	left := &Disk{clock: d.clock, next: d.next, over: make(chan struct{})}
	left.root = left.copyFolder(d.root, names, survives, make(map[uint64]entry))
	return left
}

// copyFolder returns what a cut leaves of a folder. A file of two names stays one.
func (d *Disk) copyFolder(f *folder, names func(*folder) map[string]entry, survives func() bool, known map[uint64]entry) *folder {
	left := &folder{attributes: f.attributes, live: make(map[string]entry), disk: nil}
	known[f.ino] = left
	for name, e := range names(f) {
		found, ok := known[e.about().ino]
		if !ok {
			switch e := e.(type) {
			case *folder:
				found = d.copyFolder(e, names, survives, known)
			case *file:
				found = e.left(survives)
				known[e.ino] = found
			}
		}
		left.live[name] = found
	}
	left.sync()
	return left
}

// left returns what a cut leaves of a file.
func (f *file) left(survives func() bool) *file {
	rest := &file{attributes: f.attributes, disk: slices.Clone(f.disk), live: f.live, dirty: make(map[int64]bool)}
	for page := range f.dirty {
		if survives() {
			rest.keep(page)
		}
	}
	rest.live = slices.Clone(rest.disk)
	return rest
}

// Files returns what a cut of the power would leave now, by the path of each file.
func (d *Disk) Files() map[string][]byte {
	files := make(map[string][]byte)
	d.Remains(nil).root.walk("", files)
	return files
}

func (f *folder) walk(path string, files map[string][]byte) {
	for name, e := range f.live {
		switch e := e.(type) {
		case *folder:
			e.walk(path+name+"/", files)
		case *file:
			files[path+name] = e.live
		}
	}
}
