package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/migrations"
)

func TestOpen_KeepsTheFilesPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	s := openStore(t, path)
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: mode %o", info.Name(), got)
		}
	}
}

func TestOpen_ReopensItsFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "with space & ?#%.db")
	for i, id := range []string{"A1", "A2", "A3"} {
		s, err := Open(t.Context(), Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		save(t, s, says(alice, alice, id, i, "hi"))
		checkSound(t, s)
		if got := len(historyOf(t, s, alice)); got != i+1 {
			t.Errorf("%d messages, want %d", got, i+1)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// written returns the path of a closed store with a message.
func written(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bridged.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen_RefusesInvalidFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(t *testing.T, path string)
		want  string
	}{
		"emptied":            {func(t *testing.T, path string) { truncate(t, path, 0) }, "is empty"},
		"cut short":          {func(t *testing.T, path string) { truncate(t, path, 5000) }, "is damaged"},
		"cut in the header":  {func(t *testing.T, path string) { truncate(t, path, 50) }, "is damaged"},
		"text":               {func(t *testing.T, path string) { write(t, path, strings.Repeat("not a database ", 100)) }, "is damaged"},
		"overwritten inside": {overwrite, "is damaged"},
		"of another program": {func(t *testing.T, path string) { run(t, path, "PRAGMA application_id = 7") }, "another program"},
		"of a newer version": {func(t *testing.T, path string) {
			run(t, path, "PRAGMA user_version = 9999")
		}, "newer bridged"},
		"only the log is left": {func(t *testing.T, path string) {
			write(t, path+"-wal", "log")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t)
			test.spoil(t, path)
			before, _ := os.ReadFile(path)
			s, err := Open(t.Context(), Options{Path: path})
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q, want one with %q", err, test.want)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the refused file was changed")
			}
		})
	}
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ {
		data[i] = 0x55
	}
	write(t, path, string(data))
}

func run(t *testing.T, path, query string) {
	t.Helper()
	c, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Script(query), c.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_BeginsAgainAfterAnUnfinishedCreation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	write(t, path+".new", "half a sto")
	write(t, path+".new-wal", "half a log")
	openStore(t, path)
}

func TestOpen_RecoversTheLogOfACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live := openStore(t, filepath.Join(dir, "bridged.db"))
	save(t, live, says(alice, alice, "A1", 1, "only in the log"))
	crashed := filepath.Join(dir, "crashed.db")
	for _, suffix := range []string{"", "-wal"} { // as a killed process leaves them
		data, err := os.ReadFile(live.o.Path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		write(t, crashed+suffix, string(data))
	}
	s := openStore(t, crashed)
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"A1"})
}

func TestMigrations_HaveUniqueNumbers(t *testing.T) {
	t.Parallel()
	entries, err := migrations.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	number, last := regexp.MustCompile(`^[0-9]{4}_`), "0000_"
	for _, entry := range entries {
		found := number.FindString(entry.Name())
		if found <= last {
			t.Errorf("%s: want four digits that no other file begins with", entry.Name())
		}
		last = found
	}
}

func TestSave_OnAFullDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "before"))
	var pages int
	if err := s.writer.Use(t.Context(), func() { s.writer.Find("PRAGMA page_count", nil, &pages) }); err != nil {
		t.Fatal(err)
	}
	limit := func(n int) {
		t.Helper()
		onWriter(t, s, fmt.Sprintf("PRAGMA max_page_count = %d", n))
	}
	limit(pages)
	big := says(alice, alice, "A2", 2, strings.Repeat("long ", 10000))
	err := s.Save(context.Background(), big)
	wantCode(t, err, bridge.CodeStorageUnavailable)
	if !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("error: %v", err)
	}
	sameList(t, "reads continue", ids(historyOf(t, s, alice)), []string{"A1"})
	limit(1 << 30)
	save(t, s, big)
	sameList(t, "writes resume", ids(historyOf(t, s, alice)), []string{"A1", "A2"})
}

func TestClose_RefusesLaterCalls(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	wantCode(t, s.Save(ctx, says(alice, alice, "A2", 2, "hi")), bridge.CodeStorageUnavailable)
	_, err = s.Messages(ctx, bridge.MessageQuery{Chat: alice})
	wantCode(t, err, bridge.CodeStorageUnavailable)
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the write-ahead log is left: %v", err)
	}
}

// TestSave_IntoRemovedFiles: a refused message is neither stored nor shown, also once the files are
// back.
func TestSave_IntoRemovedFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, filepath.Join(dir, "bridged.db"))
	changed := s.Changed()
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.Save(t.Context(), says(alice, alice, "A1", 1, "lost")), bridge.CodeStorageUnavailable)
	select {
	case <-changed:
		t.Error("a refused message was shown")
	default:
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	sameList(t, "events", logged(t, s), []string{})
	save(t, s, says(alice, alice, "A1", 1, "kept"))
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"A1"})
}
