package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/sqlite"
	"bridged/internal/store/storefile"
)

// Target is a data directory that a backup is restored to.
type Target struct {
	DataDir string // this process has its lock
	TempDir string // in the data directory; the next start empties it
	Now     time.Time

	step func(name string) // is called between the steps; nil but in tests
}

// Restored describes a restored backup.
type Restored struct {
	DataDir string `json:"dataDir"`
	File    string `json:"file"` // - for standard input
	Contents
	// Previous is the store that was there before, or "".
	Previous   string `json:"previous"`
	HasSession bool   `json:"hasSession"`
}

// Restore replaces the store by the one in a backup. It checks the backup first. The previous store gets a
// name with the date. session.db stays as it is.
//
// A kill at any time leaves the previous store or the new one in its place. A store that can still be
// opened is complete then; the write-ahead log of a damaged one gets the date, too.
func Restore(ctx context.Context, to Target, from io.Reader, name string) (Restored, error) {
	r, err := to.restore(ctx, from, name)
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", err)
	}
	return r, nil
}

func (t Target) restore(ctx context.Context, from io.Reader, name string) (_ Restored, err error) {
	if t.step == nil {
		t.step = func(string) {}
	}
	dir, err := os.MkdirTemp(t.TempDir, "restore-*")
	if err != nil {
		return Restored{}, dbfile.ExplainFile(filepath.Join(t.DataDir, storeName), err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := stage{dir: dir, name: name}
	if name == "-" {
		s.name = "the backup on standard input"
	}
	if err := s.unpack(ctx, from); err != nil {
		return Restored{}, err
	}
	r := Restored{DataDir: t.DataDir, File: name}
	if r.Contents, err = inspect(ctx, s.store(), s.name); err != nil {
		return Restored{}, err
	}
	if r.MissingFiles, err = t.missingFiles(ctx, s); err != nil {
		return Restored{}, err
	}
	t.step("checked")
	if err := t.addFiles(s); err != nil {
		return Restored{}, err
	}
	t.step("files added")
	if r.Previous, err = t.swap(ctx, s.store()); err != nil {
		return Restored{}, err
	}
	_, err = os.Stat(filepath.Join(t.DataDir, "session.db"))
	r.HasSession = err == nil
	return r, nil
}

// missingFiles counts the imported files that messages need and that are neither in the backup nor in the
// data directory.
func (t Target) missingFiles(ctx context.Context, s stage) (missing int64, err error) {
	sums, err := neededFiles(ctx, s.store())
	if err != nil {
		return 0, err
	}
	for _, sum := range sums {
		name := hex.EncodeToString(sum)
		if !exists(filepath.Join(s.imported(), name)) && !exists(filepath.Join(t.DataDir, importedName, name)) {
			missing++
		}
	}
	return missing, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// addFiles moves the imported files of the backup into the data directory. Files that are there
// stay, because the previous store may need them.
func (t Target) addFiles(s stage) error {
	entries, err := os.ReadDir(s.imported())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	dir := filepath.Join(t.DataDir, importedName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.Rename(filepath.Join(s.imported(), entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return errors.Join(dbfile.SyncDir(dir), dbfile.SyncDir(t.DataDir))
}

// logSuffixes are the files of changes that SQLite would apply to any database next to them.
var logSuffixes = []string{"-wal", "-journal", "-shm"}

// swap puts a store in the place of the previous one, and returns the new name of that.
func (t Target) swap(ctx context.Context, staged string) (previous string, err error) {
	path := filepath.Join(t.DataDir, storeName)
	isComplete, err := closeStore(ctx, path)
	if err != nil {
		return "", fmt.Errorf("the present %s could not be completed from its write-ahead log: %w", storeName, err)
	}
	t.step("previous store closed")
	previous = t.previousName(path)
	for _, suffix := range append([]string{""}, logSuffixes...) {
		if isComplete && suffix != "" {
			continue // empty, if it is there
		}
		if err := duplicate(path+suffix, previous+suffix); err != nil {
			return "", err
		}
	}
	if err := dbfile.SyncDir(t.DataDir); err != nil {
		return "", err
	}
	t.step("previous store named")
	for _, suffix := range logSuffixes {
		if err := removeIfThere(path + suffix); err != nil {
			return "", err
		}
	}
	if err := dbfile.SyncDir(t.DataDir); err != nil {
		return "", err
	}
	t.step("logs removed")
	if err := os.Rename(staged, path); err != nil {
		return "", err
	}
	t.step("renamed")
	if !exists(previous) {
		previous = ""
	}
	return previous, dbfile.SyncDir(t.DataDir)
}

// previousName returns the name that the previous store gets, which no file has.
func (t Target) previousName(path string) string {
	for at := t.Now.UTC(); ; at = at.Add(time.Second) {
		name := path + ".before-restore-" + at.Format(dateLayout)
		if !exists(name) && !exists(name+"-wal") {
			return name
		}
	}
}

// closeStore moves the changes in the write-ahead log into the store. It reports false if that is
// impossible because the store is damaged, or if the store is missing.
func closeStore(ctx context.Context, path string) (isComplete bool, err error) {
	if err := storefile.Database.CheckHead(path); err != nil {
		var known *bridge.Error
		if errors.Is(err, fs.ErrNotExist) || errors.As(err, &known) && !errors.Is(err, fs.ErrPermission) {
			return false, nil // it has nothing that could be completed
		}
		return false, err
	}
	err = checkpoint(ctx, path)
	if dbfile.IsDamage(err) {
		return false, nil
	}
	if err != nil {
		return false, storefile.Database.ExplainOpening(path, err)
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return false, errors.New("another program uses it: stop that first")
	}
	return true, nil
}

func checkpoint(ctx context.Context, path string) (err error) {
	c, err := sqlite.Open(path, []string{"busy_timeout(5000)", "synchronous(FULL)"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return c.Use(ctx, func() { c.Run("PRAGMA wal_checkpoint(TRUNCATE)") })
}

// duplicate gives a file a second name. It copies the file if the file system has no links. A missing
// file causes no error.
func duplicate(path, name string) error {
	err := os.Link(path, name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	part := name + partSuffix
	to, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return noSpace(part, errors.Join(err, os.Remove(part)))
	}
	return os.Rename(part, name)
}
