package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"bridged/internal/fleet"
	"bridged/internal/wa"
)

// place returns the data directory as other processes of a fleet can tell it from
// theirs.
func (d *dataDir) place() (fleet.Place, error) {
	device, inode, err := fileNumbers(d.lock)
	if err != nil {
		return fleet.Place{}, err
	}
	isShared, err := isShared(d.path)
	if err != nil {
		return fleet.Place{}, fmt.Errorf("look at the file system of DATA_DIR: %w", err)
	}
	here := origin{Inode: inode}
	if !isShared { // machines need not tell the same of a network volume's files
		here.Born = born(d.lock)
	}
	mark, err := d.mark(here)
	if err != nil {
		return fleet.Place{}, notWritable(err)
	}
	p := fleet.Place{Mark: mark, IsShared: isShared, Note: d.file("fleet.json")}
	if boot := bootID(); boot != "" {
		p.Lock = fmt.Sprintf("%s-%x-%x-%x", boot, device, inode, here.Born)
	}
	return p, nil
}

// origin is the random name of a directory, and the lock file beside which it was made.
// A copy has the name, but another lock file.
type origin struct {
	ID    string `json:"id"`
	Inode uint64 `json:"inode"`
	Born  int64  `json:"born,omitempty"` // in nanoseconds; 0 where that is not known
}

// isCopied reports whether a name was made beside another lock file than that which is
// here. Inodes alone do not tell: new file systems give them in the same order.
func (o origin) isCopied(here origin) bool {
	return o.Inode != here.Inode || o.Born != here.Born && o.Born != 0 && here.Born != 0
}

// mark returns the name of the directory. A new one, or a copy, is given one.
func (d *dataDir) mark(here origin) (string, error) {
	path := d.file("fleet.id")
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var kept origin
	if err == nil && json.Unmarshal(data, &kept) == nil && kept.ID != "" && !kept.isCopied(here) {
		return kept.ID, nil
	}
	here.ID = rand.Text()
	if data, err = json.Marshal(here); err != nil {
		return "", err
	}
	return here.ID, writeDurably(path, append(data, '\n'))
}

// writeDurably replaces a file, whole or not at all, also where the power fails: a
// directory that has forgotten its name goes for a copy.
func writeDurably(path string, data []byte) error {
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(data); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// fleetLease is the right to run the account, as the account asks for it.
type fleetLease struct{ *fleet.Fleet }

// Seek implements [wa.Lease].
func (l fleetLease) Seek(s wa.LeasedSession, changed func()) (release func()) {
	return l.Fleet.Seek(s.ID, changed)
}

// Refusal implements [wa.Lease].
func (l fleetLease) Refusal() error {
	if err := l.Fleet.Refusal(); !errors.Is(err, fleet.ErrSought) {
		return err
	}
	return wa.ErrLeaseSought
}
