package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// settingClean is set in stores in which everything was overwritten that was
// ever deleted: those of earlier versions have to be written anew once.
const settingClean = "store.overwrites_deleted"

// compactAtOpen is the largest store that is written anew while it is opened,
// in about two seconds. For larger ones there is the command.
const compactAtOpen = 256 << 20

// Compact writes the store at path anew, without what earlier versions left of
// deleted messages in unused pages, and without the room that they took. It
// needs as much free disk as the store has bytes, and nobody else may have the
// store open. Killed halfway it leaves the store as it was.
func Compact(ctx context.Context, path string) error {
	if err := prepareFile(ctx, path); err != nil {
		return err
	}
	if err := compact(ctx, path); err != nil {
		return fmt.Errorf("compact %s: %w", path, err)
	}
	return nil
}

// compactDraft returns the file that becomes the store at path.
func compactDraft(path string) string { return path + ".compact" }

func compact(ctx context.Context, path string) error {
	draft := compactDraft(path)
	if err := copyTo(ctx, path, draft); err != nil {
		return errors.Join(err, remove(draft))
	}
	if err := markClean(ctx, draft); err != nil {
		return errors.Join(err, remove(draft))
	}
	// The last connection has copied the log into the database and removed it,
	// unless somebody else has the store open.
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is in use: stop the program that has it open", path), err, remove(draft))
	}
	if err := os.Rename(draft, path); err != nil {
		return errors.Join(err, remove(draft))
	}
	return syncDir(filepath.Dir(path))
}

// markClean notes that there is nothing in unused pages.
func markClean(ctx context.Context, path string) error {
	return noteIn(ctx, path, writerPragmas, settingClean, "1")
}

// noteIn sets a setting of a store that is not open, unless it is set.
func noteIn(ctx context.Context, path string, pragmas []string, name, value string) (err error) {
	db, err := openDB(path, pragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name, value)
	return explain(err)
}

func isClean(ctx context.Context, path string) (clean bool, err error) {
	db, err := openDB(path, writerPragmas)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM settings WHERE name = ?)", settingClean).Scan(&clean)
	return clean, explain(err)
}

// cleanOnce writes a store of an earlier version anew, if that takes moments.
// Nobody waits for it to work again: where it cannot be done, the log says what
// to do.
func (s *Store) cleanOnce(ctx context.Context) error {
	clean, err := isClean(ctx, s.path)
	if clean || err != nil {
		return err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if info.Size() <= compactAtOpen {
		err := compact(ctx, s.path)
		if err == nil {
			return nil
		}
		s.log.Warn().Err(err).Msg("the store was not compacted")
	}
	s.log.Warn().Msg("an earlier version left deleted text in unused pages of the store: stop bridged once and run `bridged compact`")
	return nil
}
