package dbfile

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newDatabase makes a database with some pages.
func newDatabase(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	ok(t, err)
	_, err = db.Exec("CREATE TABLE words (word TEXT); CREATE INDEX by_word ON words (word)")
	ok(t, err)
	for i := range 500 {
		_, err = db.Exec("INSERT INTO words VALUES (?)", i)
		ok(t, err)
	}
	ok(t, db.Close())
	return path
}

func TestExamine_FindsDamageAndChangesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(t *testing.T, path string)
		want func(error) bool
	}{
		"whole":    {func(*testing.T, string) {}, func(err error) bool { return err == nil }},
		"no file":  {func(t *testing.T, path string) { ok(t, os.Remove(path)) }, func(err error) bool { return err != nil }},
		"empty":    {func(t *testing.T, path string) { ok(t, os.Truncate(path, 0)) }, func(err error) bool { return err != nil }},
		"no table": {func(t *testing.T, path string) { ok(t, os.WriteFile(path, []byte("nothing of the kind"), 0o600)) }, isDamaged},
		"overwritten": {func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			ok(t, err)
			_, err = f.WriteAt(make([]byte, 4096), 3*4096)
			ok(t, errors.Join(err, f.Close()))
		}, func(err error) bool { return err != nil }},
		"not closed": {
			func(t *testing.T, path string) { ok(t, os.WriteFile(path+"-wal", []byte("changes"), 0o600)) },
			func(err error) bool { return errors.Is(err, ErrUnfinished) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newDatabase(t)
			test.harm(t, path)
			before := listing(t, filepath.Dir(path))
			if err := (Database{Name: "a.db"}).Examine(t.Context(), path); !test.want(err) {
				t.Errorf("Check returns %v", err)
			}
			if after := listing(t, filepath.Dir(path)); after != before {
				t.Errorf("there is now %s, before %s", after, before)
			}
		})
	}
}

// isDamaged reports whether the sentence of an error calls the file damaged.
func isDamaged(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "a.db is damaged: ")
}

// listing describes the files of a directory.
func listing(t *testing.T, dir string) (out string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	ok(t, err)
	for _, e := range entries {
		info, err := e.Info()
		ok(t, err)
		out += info.Name() + " " + info.ModTime().String() + " " + info.Mode().String() + "; "
	}
	return out
}
