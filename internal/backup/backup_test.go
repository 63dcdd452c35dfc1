package backup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bridged/internal/dbfile"
	"bridged/internal/store"
)

func TestToFile_ReplacesOnlyOnRequest(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	path := filepath.Join(t.TempDir(), "copy.db")
	r, err := ToFile(t.Context(), d.source(), path, false)
	d.do(err)
	same(t, "messages, chats and secrets", []int64{r.Messages, r.Chats, r.Secrets}, []int64{1, 1, 0})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != r.Bytes {
		t.Errorf("the file: %v, %v; the report has %d bytes", info, err, r.Bytes)
	}
	d.say("two")
	if _, err := ToFile(t.Context(), d.source(), path, false); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("a second time: %v", err)
	}
	with := d.source()
	with.Secrets = true
	r, err = ToFile(t.Context(), with, path, true)
	d.do(err)
	same(t, "messages and secrets", []int64{r.Messages, r.Secrets}, []int64{2, 1})
	same(t, "files", names(t, filepath.Dir(path)), []string{"copy.db"})
}

func TestToFile_LeavesNothingWhenItFails(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ToFile(ctx, d.source(), filepath.Join(dir, "copy.db"), false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	same(t, "files", names(t, dir), []string{})
	if _, err := ToFile(t.Context(), Source{DataDir: dir}, filepath.Join(dir, "copy.db"), false); err == nil || !strings.Contains(err.Error(), "there is no store") {
		t.Errorf("without a store: %v", err)
	}
}

// A page that SQLite does not read while it copies is found when the copy is read back.
func TestToFile_DamageIsFound(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, strings.Repeat("a long text ", 2000))
	path := filepath.Join(t.TempDir(), "copy.db")
	if _, err := ToFile(t.Context(), d.source(), path, false); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	d.do(err)
	copy(data[len(data)-3*4096:], bytes.Repeat([]byte{0xff}, 2*4096))
	writeFile(t, path, string(data))
	if _, err := inspect(t.Context(), path, "the copy"); err == nil || !strings.Contains(err.Error(), "the copy is damaged: choose another backup") {
		t.Errorf("got %v", err)
	}
}

func TestToDirectory_RetainsTheNewest(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	dir := t.TempDir()
	others := []string{"bridged-2026-11-20T033000Z.db.zst", "bridged-monday.db", "notes.txt"}
	for _, name := range others {
		writeFile(t, filepath.Join(dir, name), "precious")
	}
	writeFile(t, filepath.Join(dir, "bridged-2026-11-20T033000Z.db.part"), "of a process that was killed")
	writeFile(t, filepath.Join(dir, "bridged-2026-11-20T033000Z.db.part-journal"), "of SQLite")
	writeFile(t, filepath.Join(dir, "bridged-2026-11-20T033000Z.tar.db.part"), "of another one")
	writeFile(t, filepath.Join(dir, "bridged-2026-11-21T023000Z.db.part-journal"), "next to the first draft")
	at := time.Date(2026, 11, 21, 3, 30, 0, 0, time.FixedZone("", 3600))
	for range 4 {
		if _, err := ToDirectory(t.Context(), d.source(), dir, 3, at); err != nil {
			t.Fatal(err)
		}
		at = at.AddDate(0, 0, 1)
	}
	// With a clock that was set back, the new one is the oldest by its name, and stays.
	r, err := ToDirectory(t.Context(), d.source(), dir, 2, at.AddDate(-1, 0, 0))
	d.do(err)
	same(t, "removed", r.Removed, []string{"bridged-2026-11-22T023000Z.db", "bridged-2026-11-23T023000Z.db"})
	again, err := ToDirectory(t.Context(), d.source(), dir, 0, at.AddDate(-1, 0, 0))
	d.do(err)
	same(t, "a second one at the same time", filepath.Base(again.File), "bridged-2025-11-25T023001Z.db")
	same(t, "files", names(t, dir), []string{
		"bridged-2025-11-25T023000Z.db", "bridged-2025-11-25T023001Z.db", others[0], "bridged-2026-11-24T023000Z.db", others[1], others[2],
	})
}

// A draft that another process is writing is neither removed nor written.
func TestToDirectory_LeavesTheDraftsOfOthers(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	dir := t.TempDir()
	part := writeFile(t, filepath.Join(dir, "bridged-2026-11-20T033000Z.db.part"), "half")
	other, err := os.OpenFile(part, os.O_RDWR, 0)
	d.do(err)
	defer other.Close()
	d.do(dbfile.Lock(other))
	if _, err := ToDirectory(t.Context(), d.source(), dir, 1, time.Date(2026, 11, 20, 3, 30, 0, 0, time.UTC)); err == nil || !strings.Contains(err.Error(), "another process is writing") {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(part); err != nil || string(data) != "half" {
		t.Errorf("the draft has %q, %v", data, err)
	}
	if _, err := ToDirectory(t.Context(), d.source(), dir, 1, time.Date(2026, 11, 21, 3, 30, 0, 0, time.UTC)); err != nil {
		t.Error(err)
	}
}

func TestToStream_IsAsAFile(t *testing.T) {
	t.Parallel()
	for _, files := range []bool{false, true} {
		d := newDataDir(t, "one", "two")
		d.imports("one", "a picture")
		from := d.source()
		from.Files = files
		var stream bytes.Buffer
		r, err := ToStream(t.Context(), from, &stream, d.file("tmp"))
		if err != nil || r.Bytes != int64(stream.Len()) || r.File != "-" {
			t.Fatalf("%+v, %d bytes, %v", r, stream.Len(), err)
		}
		same(t, "temporary files", names(t, d.file("tmp")), []string{})
		other := newDataDir(t)
		if _, err := other.restores(writeFile(t, filepath.Join(t.TempDir(), "stream"), stream.String())); err != nil {
			t.Fatal(err)
		}
		same(t, "messages", other.says(), []string{"one", "two"})
	}
}

// brokenPipe fails after some bytes.
type brokenPipe struct{ left int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestToStream_SaysThatTheReceiverHasGone(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	for _, files := range []bool{false, true} {
		from := d.source()
		from.Files = files
		if _, err := ToStream(t.Context(), from, &brokenPipe{50_000}, d.file("tmp")); err == nil || !strings.Contains(err.Error(), "the backup there is incomplete: broken pipe") {
			t.Errorf("got %v", err)
		}
		same(t, "temporary files", names(t, d.file("tmp")), []string{})
	}
}

// TestToFile_LeavesRoomForMessages: a backup next to the store must not use up its disk.
func TestToFile_LeavesRoomForMessages(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	from := d.source()
	for free, says := range map[int64]string{100 << 10: "is full: the backup needs 1 MB and 0 MB are free", 300 << 20: "of the 300 MB that are free, 512 MB are reserved for messages", 600 << 20: ""} {
		from.free = func(string) (int64, int64, error) { return free, 10 << 30, nil }
		_, err := ToFile(t.Context(), from, filepath.Join(t.TempDir(), "copy.db"), false)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("with %d MB: %v, want %q", free>>20, err, says)
		}
	}
}

// TestToDirectory_OnADiskThatFillsUp has a disk that fills up while the copy is written.
func TestToDirectory_OnADiskThatFillsUp(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	for _, files := range []bool{false, true} {
		dir := t.TempDir()
		smallDisk(t, dir)
		old := writeFile(t, filepath.Join(dir, "bridged-2026-11-20T033000Z.db"), "an old backup")
		from := d.source()
		from.Files = files
		if _, err := ToDirectory(t.Context(), from, dir, 1, time.Now()); err == nil || !regexp.MustCompile(`is full: the backup needs \d MB and 0 MB are free`).MatchString(err.Error()) {
			t.Errorf("on a disk without room: %v", err)
		}
		from.free = func(string) (int64, int64, error) { return 2 << 40, 4 << 40, nil } // as before others filled it
		if _, err := ToDirectory(t.Context(), from, dir, 1, time.Now()); err == nil || !strings.Contains(err.Error(), "is full: make room, or choose another directory") {
			t.Errorf("on a disk that fills up: %v", err)
		}
		same(t, "files", names(t, dir), []string{filepath.Base(old)})
	}
}

// A running bridge makes its backups with its store open, which SQLite's locks must survive.
func TestToFile_OfAnOpenStore(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	from := d.source()
	from.IsOpen, from.Files = true, true
	path := filepath.Join(t.TempDir(), "copy.tar")
	d.with(func(s *store.Store) {
		say(t, s, "two")
		if _, err := ToFile(t.Context(), from, path, false); err != nil {
			t.Fatal(err)
		}
		if d.locks() == 0 {
			t.Error("the store's locks are gone")
		}
		say(t, s, "three")
	})
	same(t, "messages", d.says(), []string{"one", "two", "three"})
	if _, err := d.restores(path); err != nil {
		t.Fatal(err)
	}
	same(t, "restored messages", d.says(), []string{"one", "two"})
}

// TestToFile_CountsLostFiles: a lost or damaged file does not prevent a backup of the rest.
func TestToFile_CountsLostFiles(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one", "two", "three")
	whole := d.imports("one", "a picture")
	d.do(os.Remove(filepath.Join(d.file(importedName), d.imports("two", "a film"))))
	writeFile(t, filepath.Join(d.file(importedName), d.imports("three", "a song")), "another song")
	from := d.source()
	from.Files = true
	path := filepath.Join(t.TempDir(), "copy.tar")
	r, err := ToFile(t.Context(), from, path, false)
	d.do(err)
	same(t, "needed and missing files", []int64{r.ImportedFiles, r.MissingFiles}, []int64{3, 2})
	other := newDataDir(t)
	restored, err := other.restores(path)
	d.do(err)
	same(t, "missing files", restored.MissingFiles, 2)
	same(t, "files", names(t, other.file(importedName)), []string{whole})
}
