package dbfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

func TestWatch_NoticesWhatIsNotTheSameFile(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(t *testing.T, dir string)
		undo func(t *testing.T, dir string) // nil where the same files cannot come back
		want string
	}{
		"directory removed": {harm: func(t *testing.T, dir string) { ok(t, os.RemoveAll(dir)) }, want: "the data directory ("},
		"directory renamed": {
			harm: func(t *testing.T, dir string) { ok(t, os.Rename(dir, dir+".away")) },
			undo: func(t *testing.T, dir string) { ok(t, os.Rename(dir+".away", dir)) },
			want: "the data directory (",
		},
		"another directory in its place": {
			harm: func(t *testing.T, dir string) { ok(t, os.Rename(dir, dir+".away")); makeFiles(t, dir) },
			undo: func(t *testing.T, dir string) { ok(t, os.RemoveAll(dir)); ok(t, os.Rename(dir+".away", dir)) },
			want: "the data directory (",
		},
		"file removed": {harm: func(t *testing.T, dir string) { ok(t, os.Remove(filepath.Join(dir, "a.db"))) }, want: "a file of the data directory ("},
		"log removed":  {harm: func(t *testing.T, dir string) { ok(t, os.Remove(filepath.Join(dir, "a.db-wal"))) }, want: "a.db-wal"},
		"file replaced": {
			harm: func(t *testing.T, dir string) {
				ok(t, os.WriteFile(filepath.Join(dir, "other"), []byte("a.db"), 0o600))
				ok(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "a.db")))
			},
			want: "a file of the data directory (",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			makeFiles(t, dir)
			w, err := NewWatch(dir)
			ok(t, err)
			ok(t, w.AddDatabase(filepath.Join(dir, "a.db")))
			ok(t, w.Check())
			test.harm(t, dir)
			err = w.Check()
			if bridge.CodeOf(err) != bridge.CodeStorageUnavailable || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want storage_unavailable with %q", err, test.want)
			}
			if test.undo != nil {
				test.undo(t, dir)
				ok(t, w.Check())
			}
		})
	}
}

// A database that was closed has no write-ahead log any more: the others must still be written at a stop.
func TestWatch_LeavesAClosedDatabaseAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	makeFiles(t, dir)
	w, err := NewWatch(dir)
	ok(t, err)
	path := filepath.Join(dir, "a.db")
	ok(t, w.AddDatabase(path))
	w.RemoveDatabase(path)
	ok(t, os.Remove(path+"-wal"))
	ok(t, w.Check())
	(*Watch)(nil).RemoveDatabase(path)
}

func makeFiles(t *testing.T, dir string) {
	t.Helper()
	ok(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"a.db", "a.db-wal", "a.db-shm"} {
		ok(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
