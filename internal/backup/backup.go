// Package backup copies the store of a data directory, checks each copy by reading it back, and restores
// it.
//
// A backup is a SQLite file, or, with the files of imported chats, a tar file with bridged.db and
// imported/. It is written under a name with .part and renamed when it is complete and on the disk. So
// a process that is killed, or a full disk, leaves no incomplete backup. The next backup under that name
// or in that directory removes the incomplete one.
//
// A backup never has the keys of the session: a session that continues from an old copy uses message
// keys twice, and recipients drop such messages.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
	"bridged/internal/store/storefile"
)

// The names in a data directory and in a tar file.
const (
	storeName    = "bridged.db"
	importedName = "imported"
)

// Source selects the data to copy.
type Source struct {
	DataDir string
	Files   bool // copy the files of imported chats, too
	Secrets bool // copy tokens, webhooks and hooks, too
	// IsOpen means that this process has opened the store. Its file is then opened by SQLite only.
	IsOpen bool

	free func(dir string) (free, all int64, err error) // nil asks the system; tests replace it
}

// Report describes a backup that was read back.
type Report struct {
	File        string      `json:"file"` // - for standard output
	Format      string      `json:"format"`
	Bytes       int64       `json:"bytes"`
	MadeAt      bridge.Time `json:"madeAt"`
	WithSecrets bool        `json:"withSecrets"`
	WithFiles   bool        `json:"withFiles"`
	Contents
	Removed []string `json:"removed"` // names of older backups that were removed
}

// The formats of backups, which are the endings of their names.
const (
	formatStore   = "db"
	formatArchive = "tar"
)

func (s Source) format() string {
	if s.Files {
		return formatArchive
	}
	return formatStore
}

func (s Source) store() string { return filepath.Join(s.DataDir, storeName) }

// check refuses a source that is not a store.
func (s Source) check() error {
	if s.IsOpen {
		return nil
	}
	err := storefile.Database.CheckHead(s.store())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store to back up in %s: set DATA_DIR to the directory of a bridge: %w", s.DataDir, err)
	}
	return err
}

// ToFile makes a backup in a file. It fails if the file exists, unless it may replace it.
func ToFile(ctx context.Context, from Source, path string, replace bool) (Report, error) {
	return failed(from.toFile(ctx, path, replace))
}

func failed(r Report, err error) (Report, error) {
	if err != nil {
		return Report{}, fmt.Errorf("back up the store: %w", err)
	}
	return r, nil
}

func (s Source) toFile(ctx context.Context, path string, replace bool) (Report, error) {
	if err := s.check(); err != nil {
		return Report{}, err
	}
	if _, err := os.Lstat(path); err == nil && !replace {
		return Report{}, existing(path)
	}
	made := time.Now()
	d, err := newDraft(path)
	if err != nil {
		return Report{}, err
	}
	defer d.close()
	r, err := s.write(ctx, d)
	if err != nil {
		return Report{}, err
	}
	if err := d.publish(replace); err != nil {
		return Report{}, err
	}
	r.File, r.MadeAt, r.Removed = path, bridge.At(made), []string{}
	return r, nil
}

func existing(path string) error {
	return fmt.Errorf("%s exists already: choose another name, or replace it with --force", path)
}

// write writes the backup into a draft and reads it back.
func (s Source) write(ctx context.Context, d *draft) (Report, error) {
	if err := s.checkSpace(ctx, filepath.Dir(d.path)); err != nil {
		return Report{}, err
	}
	if !s.Files {
		r, err := s.copyStore(ctx, d.path)
		if err != nil {
			return Report{}, err
		}
		r.Bytes, err = sizeOf(d.path)
		return r, err
	}
	copied, err := newDraft(d.target + "." + formatStore)
	if err != nil {
		return Report{}, err
	}
	defer copied.close()
	r, err := s.copyStore(ctx, copied.path)
	if err != nil {
		return Report{}, err
	}
	a, err := s.newArchive(ctx, copied.path, &r.Contents)
	if err != nil {
		return Report{}, err
	}
	if _, err := a.writeTo(ctx, d.file); err != nil {
		return Report{}, noSpace(d.path, err)
	}
	if err := d.file.Sync(); err != nil {
		return Report{}, noSpace(d.path, err)
	}
	if err := a.check(ctx, d.path); err != nil {
		return Report{}, fmt.Errorf("the copy could not be read back: %w", err)
	}
	r.Bytes, err = sizeOf(d.path)
	return r, err
}

// copyStore copies the store and reads the copy back.
func (s Source) copyStore(ctx context.Context, to string) (Report, error) {
	before, err := count(ctx, s.store())
	if err != nil {
		return Report{}, storefile.Database.ExplainOpening(s.store(), err)
	}
	if err := storefile.Copy(ctx, s.store(), to, s.Secrets); err != nil {
		return Report{}, err
	}
	found, err := inspect(ctx, to, "the copy")
	if err != nil {
		return Report{}, fmt.Errorf("the copy could not be read back: %w", err)
	}
	after, err := count(ctx, s.store())
	if err != nil {
		return Report{}, storefile.Database.ExplainOpening(s.store(), err)
	}
	if before == after && found.counts != before { // no message was stored during the copy
		return Report{}, fmt.Errorf("the copy has %d messages of %d chats, and the store %d of %d: run bridged doctor", found.Messages, found.Chats, before.Messages, before.Chats)
	}
	return Report{Format: s.format(), WithSecrets: s.Secrets, WithFiles: s.Files, Contents: found}, nil
}

// checkSpace refuses a backup that does not fit on the disk of a directory. Otherwise it would fill the
// disk before it fails, and that can be the disk of the store.
func (s Source) checkSpace(ctx context.Context, dir string) error {
	need, err := used(ctx, s.store())
	if err != nil {
		return storefile.Database.ExplainOpening(s.store(), err)
	}
	if s.Files {
		files, err := sizeOfFiles(filepath.Join(s.DataDir, importedName))
		if err != nil {
			return err
		}
		need += need + files // the store is copied into a file, and from there into the tar file
	}
	look := s.free
	if look == nil {
		look = disk.Free
	}
	free, all, err := look(dir)
	_, own, ownErr := look(s.DataDir)
	switch {
	case err != nil: // not every file system reports its free space
	case free <= need:
		return fmt.Errorf("the disk of %s is full: the backup needs %d MB and %d MB are free, so make room, or choose another directory", dir, need>>20+1, free>>20)
	case ownErr == nil && own == all && free-need < disk.ReserveOf(all): // the disk of the store: it has the same size
		return fmt.Errorf("the disk of %s is nearly full: the backup needs %d MB, and of the %d MB that are free, %d MB are reserved for messages, so make room, or choose another disk",
			dir, need>>20+1, free>>20, disk.ReserveOf(all)>>20)
	}
	return nil
}

// noSpace explains an error of writing.
func noSpace(path string, err error) error {
	if disk.IsFull(err) {
		return fmt.Errorf("the disk of %s is full: make room, or choose another directory: %w", filepath.Dir(path), err)
	}
	return err
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ToStream makes a backup in temporary files in a directory, and writes it when it was read back. If
// writing fails, the receiver has an incomplete backup.
func ToStream(ctx context.Context, from Source, to io.Writer, tempDir string) (Report, error) {
	return failed(from.toStream(ctx, to, tempDir))
}

func (s Source) toStream(ctx context.Context, to io.Writer, tempDir string) (_ Report, err error) {
	if err := s.check(); err != nil {
		return Report{}, err
	}
	made := time.Now()
	if err := os.MkdirAll(tempDir, 0o700); err != nil {
		return Report{}, fmt.Errorf("%w (set TMPDIR to a directory with room for the backup)", err)
	}
	dir, err := os.MkdirTemp(tempDir, "backup-*")
	if err != nil {
		return Report{}, fmt.Errorf("%w (set TMPDIR to a directory with room for the backup)", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.checkSpace(ctx, dir); err != nil {
		return Report{}, err
	}
	path := filepath.Join(dir, storeName)
	r, err := s.copyStore(ctx, path)
	if err != nil {
		return Report{}, err
	}
	r.File, r.MadeAt, r.Removed = "-", bridge.At(made), []string{}
	if s.Files {
		a, err := s.newArchive(ctx, path, &r.Contents)
		if err != nil {
			return Report{}, err
		}
		if r.Bytes, err = a.writeTo(ctx, to); err != nil {
			return Report{}, incomplete(err)
		}
		return r, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return Report{}, err
	}
	defer file.Close()
	if r.Bytes, err = io.Copy(to, reader{ctx, file}); err != nil {
		return Report{}, incomplete(err)
	}
	return r, nil
}

func incomplete(err error) error {
	return fmt.Errorf("standard output was not written to its end, so the backup there is incomplete: %w", err)
}

// reader ends with a context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
