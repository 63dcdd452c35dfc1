package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bridged/internal/dbfile"
	"bridged/internal/store/db"
)

// Backup writes a consistent copy of the store to a new file, while the store
// goes on being used. It never overwrites anything. To restore a backup, stop
// the program and put it in place of the database, without the files beside it
// that end in -wal and -shm.
//
// Without secrets the copy has no tokens, webhooks and hooks: once restored, they
// would let in, and post to, those who were shut out since.
func (s *Store) Backup(ctx context.Context, path string, secrets bool) error {
	return BackupFile(ctx, s.path, path, secrets)
}

// BackupFile does what [Store.Backup] does, for the store in a file, which another process
// may be using.
func BackupFile(ctx context.Context, from, to string, secrets bool) error {
	if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("there is no store to back up: %w", err)
	}
	if err := backup(ctx, from, to, secrets); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

func backup(ctx context.Context, from, path string, secrets bool) error {
	// The name is taken first, so that two backups cannot meet under it; what
	// it stands for is moved there when it is whole.
	if err := reserve(path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists already: choose another name", path)
		}
		return err
	}
	part := path + ".part"
	err := copyTo(ctx, from, part)
	if err == nil && !secrets {
		err = eraseSecrets(part)
	}
	if err == nil {
		err = syncFile(part)
	}
	if err != nil {
		return errors.Join(err, remove(part), remove(path))
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(err, remove(part), remove(path))
	}
	return dbfile.SyncDir(filepath.Dir(path))
}

// reserve makes an empty private file where there is none.
func reserve(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyTo copies on a connection of its own: reading ones may not write, not
// even elsewhere.
func copyTo(ctx context.Context, from, path string) (err error) {
	if err := remove(path); err != nil { // left by a backup that was killed
		return err
	}
	if err := reserve(path); err != nil {
		return err
	}
	c, err := db.Open(from, []string{"busy_timeout(5000)"})
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return explain(c.Use(ctx, func() { c.Run("VACUUM INTO ?", path) }))
}

// secretTables hold what lets somebody in, or signs, and what names it.
var secretTables = []string{"deliveries", "webhooks", "hooks", "tokens"}

// eraseSecrets removes what secretTables hold from a copy that nobody else uses,
// and overwrites where it stood. There is no journal, which would keep it; a copy
// that is not finished is removed.
func eraseSecrets(path string) (err error) {
	c, err := db.Open(path, []string{"journal_mode(off)", "secure_delete(on)"})
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, table := range secretTables {
		if err := c.Script("DELETE FROM " + table); err != nil {
			return explain(err)
		}
	}
	return nil
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
