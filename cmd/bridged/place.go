package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"bridged/internal/fleet"
	"bridged/internal/wa"
)

// place returns the data directory as other processes of a fleet can tell it from
// theirs.
func (d *dataDir) place() (fleet.Place, error) {
	id, err := d.id()
	if err != nil {
		return fleet.Place{}, notWritable(err)
	}
	device, inode, err := fileNumbers(d.lock)
	if err != nil {
		return fleet.Place{}, err
	}
	isShared, err := isShared(d.path)
	if err != nil {
		return fleet.Place{}, fmt.Errorf("look at the file system of DATA_DIR: %w", err)
	}
	p := fleet.Place{Mark: fmt.Sprintf("%s-%x", id, inode), IsShared: isShared, Note: d.file("fleet.json")}
	if boot := bootID(); boot != "" {
		p.Lock = fmt.Sprintf("%s-%x-%x", boot, device, inode)
	}
	return p, nil
}

// id returns the random name of the directory. Copies have it too, but another lock
// file.
func (d *dataDir) id() (string, error) {
	path := d.file("fleet.id")
	data, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(data)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name := rand.Text()
	return name, os.WriteFile(path, []byte(name+"\n"), 0o600)
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
