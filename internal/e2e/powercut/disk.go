// Package powercut provides a disk for tests of power cuts. [Disk] is a file system in memory. It also
// stores the synced state: the bytes of a file at its last fsync, and the entries of a directory at the
// directory's last fsync. POSIX promises no more than this; real file systems preserve more.
//
// [Disk.Mount] mounts it with FUSE. [Disk.Cut] cuts the power, and [Disk.Remains] returns the disk that a
// program finds after the cut.
package powercut

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"
)

// pageSize is the unit in which unsynced bytes of a file survive or are lost.
const pageSize = 4096

// ErrNoFUSE reports that this system does not let users mount file systems.
var ErrNoFUSE = errors.New("FUSE is not available: /dev/fuse, fusermount3 or the permission to mount is missing")

// Disk is a file system in memory. It is safe for concurrent use.
type Disk struct {
	// Features that the file system lacks, set before it is mounted.
	NoSharedMemory bool // files cannot be mapped, as on a network file system without a cache
	NoModes        bool // changes of modes have no effect, as on a Windows file server
	NoLocks        bool // as on a network file system without them

	mu    sync.Mutex // guards the fields after it, and every entry
	root  *entry
	next  uint64 // the number of the next entry
	isCut bool   // no more reads or writes
	over  chan struct{}
}

type entry struct {
	ino     uint64
	mode    uint32 // permissions
	changed time.Time

	live, disk []byte         // the bytes of a file, current and synced
	dirty      map[int64]bool // pages of live that have changed since the last fsync

	isFolder              bool
	liveNames, savedNames map[string]*entry // the entries of a folder, current and synced
}

// Open lets every user read and write all files, as a network file system without modes does.
func (d *Disk) Open() { d.root.mode = 0o777 }

// New returns an empty disk.
func New() *Disk {
	d := &Disk{over: make(chan struct{})}
	d.root = d.newEntry(0o700, true)
	return d
}

func (d *Disk) newEntry(mode uint32, isFolder bool) *entry {
	d.next++
	return &entry{
		ino: d.next, mode: mode & 0o7777, changed: time.Now(),
		isFolder: isFolder, dirty: make(map[int64]bool), liveNames: make(map[string]*entry),
	}
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

// Cut cuts the power. Writes no longer change the disk, and programs that use it block until kill has killed
// them, because after a real power cut no program sees an error.
func (d *Disk) Cut(kill func()) {
	d.mu.Lock()
	d.isCut = true
	d.mu.Unlock()
	kill()
	close(d.over)
}

func (e *entry) read(into []byte, at int64) int {
	if at >= int64(len(e.live)) {
		return 0
	}
	return copy(into, e.live[at:])
}

func (e *entry) write(data []byte, at int64) {
	end := at + int64(len(data))
	if end > int64(len(e.live)) {
		e.resize(end)
	}
	copy(e.live[at:], data)
	e.touch(at, end)
}

// resize truncates a file, or extends it with zeros.
func (e *entry) resize(size int64) {
	old := int64(len(e.live))
	if size < old {
		clear(e.live[size:]) // zeros if the file grows again
		e.live = e.live[:size]
	} else {
		e.live = append(e.live, make([]byte, size-old)...)
	}
	e.touch(min(old, size), max(old, size))
}

// touch marks the pages between two positions as dirty, and the file as changed.
func (e *entry) touch(from, to int64) {
	for page := from / pageSize; page*pageSize < to; page++ {
		e.dirty[page] = true
	}
	e.changed = time.Now()
}

// sync copies an entry's changes to the synced state.
func (e *entry) sync() {
	if e.isFolder {
		e.savedNames = maps.Clone(e.liveNames)
		return
	}
	for page := range e.dirty {
		e.syncPage(page)
	}
	e.disk = resized(e.disk, len(e.live))
	clear(e.dirty)
}

// syncPage copies one page of a file to the synced state.
func (e *entry) syncPage(page int64) {
	from := int(page * pageSize)
	to := min(from+pageSize, len(e.live))
	if from >= to {
		return
	}
	e.disk = resized(e.disk, max(to, len(e.disk)))
	copy(e.disk[from:to], e.live[from:to])
}

// resized returns data with a new length, extended with zeros.
func resized(data []byte, size int) []byte {
	if size <= len(data) {
		return data[:size:size]
	}
	return append(data, make([]byte, size-len(data))...)
}

// Remains returns the disk after a power cut. survives decides for each page, and once for all names, whether
// unsynced changes survive. If it is nil, none survive.
func (d *Disk) Remains(survives func() bool) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if survives == nil {
		survives = func() bool { return false }
	}
	left := &Disk{next: d.next, over: make(chan struct{})}
	c := copier{survives: survives, namesSurvive: survives(), copied: make(map[uint64]*entry)}
	left.root = c.copy(d.root)
	return left
}

// copier copies the entries that survive a power cut. A file with two names remains one file.
type copier struct {
	survives     func() bool
	namesSurvive bool
	copied       map[uint64]*entry
}

func (c *copier) copy(e *entry) *entry {
	if found := c.copied[e.ino]; found != nil {
		return found
	}
	left := *e
	c.copied[e.ino] = &left
	left.disk, left.dirty, left.liveNames = slices.Clone(e.disk), make(map[int64]bool), make(map[string]*entry)
	for page := range e.dirty {
		if c.survives() {
			left.syncPage(page)
		}
	}
	left.live = slices.Clone(left.disk)
	names := e.savedNames
	if c.namesSurvive {
		names = e.liveNames
	}
	for name, e := range names {
		left.liveNames[name] = c.copy(e)
	}
	left.savedNames = maps.Clone(left.liveNames)
	return &left
}

// Files returns the synced contents of the files by path.
func (d *Disk) Files() map[string][]byte {
	files := make(map[string][]byte)
	d.Remains(nil).root.walk("", files)
	return files
}

func (e *entry) walk(path string, files map[string][]byte) {
	for name, e := range e.liveNames {
		if e.isFolder {
			e.walk(path+name+"/", files)
		} else {
			files[path+name] = e.live
		}
	}
}
