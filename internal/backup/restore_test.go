package backup

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/sqlite"
)

// backupOf returns the bytes of a backup.
func backupOf(d dataDir, files bool) string {
	d.t.Helper()
	from := d.source()
	from.Files = files
	var stream bytes.Buffer
	if _, err := ToStream(d.t.Context(), from, &stream, d.file("tmp")); err != nil {
		d.t.Fatal(err)
	}
	return stream.String()
}

func TestRestore_RetainsThePreviousStore(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one")
	path := writeFile(t, filepath.Join(t.TempDir(), "copy.db"), backupOf(d, false))
	d.say("two")
	writeFile(t, d.file("session.db"), "keys")
	r, err := d.restores(path)
	if err != nil || !r.HasSession || r.NewestMessageAt == nil || r.Messages != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	same(t, "messages", d.says(), []string{"one"})
	if data, err := os.ReadFile(d.file("session.db")); err != nil || string(data) != "keys" {
		t.Errorf("the session: %q, %v", data, err)
	}
	again, err := d.restores(r.Previous)
	d.do(err)
	same(t, "messages of the previous store", d.says(), []string{"one", "two"})
	if again.Previous == r.Previous {
		t.Error("two restores gave the previous store the same name")
	}
	for _, name := range names(t, d.path) {
		if info, err := os.Stat(d.file(name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
}

// A damaged store is what most backups are restored for. Its write-ahead log must not be applied to the
// new one.
func TestRestore_OverADamagedStore(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(d dataDir){
		"overwritten": func(d dataDir) {
			writeFile(t, d.file(storeName), strings.Repeat("no database ", 1000))
			writeFile(t, d.file(storeName+"-wal"), "a log")
		},
		"emptied":          func(d dataDir) { writeFile(t, d.file(storeName), "") },
		"missing":          func(d dataDir) { d.do(os.Remove(d.file(storeName))); writeFile(t, d.file(storeName+"-wal"), "a log") },
		"of a new machine": func(d dataDir) { d.do(os.Remove(d.file(storeName))) },
		"cut off":          func(d dataDir) { d.do(os.Truncate(d.file(storeName), 5*4096)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDataDir(t, "one")
			path := writeFile(t, filepath.Join(t.TempDir(), "copy.db"), backupOf(d, false))
			d.t = t
			damage(d)
			hadLog := exists(d.file(storeName + "-wal"))
			hadStore := exists(d.file(storeName))
			r, err := d.restores(path)
			if err != nil || (r.Previous != "") != hadStore {
				t.Fatalf("%+v, %v", r, err)
			}
			if exists(d.file(storeName + "-wal")) {
				t.Error("the log of the damaged store is next to the new one")
			}
			logs := slices.DeleteFunc(names(t, d.path), func(name string) bool {
				return !strings.Contains(name, "before-restore") || !strings.HasSuffix(name, "-wal")
			})
			if (len(logs) == 1) != hadLog {
				t.Errorf("the logs %v are left", logs)
			}
			same(t, "messages", d.says(), []string{"one"})
		})
	}
}

// TestDuplicate_WithoutLinks: a file system without links gets a copy.
func TestDuplicate_WithoutLinks(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	smallDisk(t, other) // there are no links to other disks
	path, name := writeFile(t, filepath.Join(t.TempDir(), "store"), "data"), filepath.Join(other, "previous")
	if err := duplicate(path, name); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "data" {
		t.Errorf("the copy has %q, %v", data, err)
	}
	same(t, "files", names(t, other), []string{"previous"})
	if err := duplicate(writeFile(t, path, strings.Repeat("x", 300<<10)), name+"2"); err == nil || !strings.Contains(err.Error(), "is full") {
		t.Errorf("on a full disk: %v", err)
	}
	same(t, "files", names(t, other), []string{"previous"})
}

func TestRestore_RefusesWhatIsNoBackup(t *testing.T) {
	t.Parallel()
	d := newDataDir(t, "one", "two")
	d.imports("one", "a picture")
	store, archive := backupOf(d, false), backupOf(d, true)
	other := func(statement string) string {
		path := writeFile(t, filepath.Join(t.TempDir(), "other.db"), store)
		c, err := sqlite.Open(path, nil)
		d.do(err)
		d.do(c.Script(statement))
		d.do(c.Close())
		data, err := os.ReadFile(path)
		d.do(err)
		return string(data)
	}
	damaged := []byte(store)
	copy(damaged[len(damaged)-3*4096:], bytes.Repeat([]byte{0xff}, 2*4096))
	for name, c := range map[string]struct{ data, says string }{
		"empty":             {"", "is empty"},
		"text":              {strings.Repeat("text ", 500), "is not a backup of bridged"},
		"short":             {"text", "is not a backup of bridged"},
		"gzip":              {"\x1f\x8b\x08\x00", "gzip -dc FILE | bridged restore -"},
		"age":               {"age-encryption.org/v1\n-> X25519", "age -d -i KEY"},
		"newer":             {other("PRAGMA user_version = 9999"), "was written by a newer bridged"},
		"other program":     {other("PRAGMA application_id = 7"), "is a database of another program"},
		"no tables":         {other("PRAGMA user_version = 0"), "is damaged: choose another backup"},
		"damaged":           {string(damaged), "is damaged: choose another backup"},
		"cut off":           {store[:len(store)/2], "is damaged: choose another backup"},
		"archive cut off":   {archive[:len(archive)/2], "is incomplete"},
		"archive's end":     {archive[:len(archive)-1024], "is incomplete"},
		"file in archive":   {strings.Replace(archive, "a picture", "A picture", 1), "has other bytes"},
		"other archive":     {archiveOf(t, tar.Header{Name: "etc/passwd"}), "is not a backup of bridged"},
		"way out":           {archiveOf(t, tar.Header{Name: storeName}, tar.Header{Name: "imported/../../escape"}), "it has a file"},
		"link":              {archiveOf(t, tar.Header{Name: storeName}, tar.Header{Name: "imported/x", Typeflag: tar.TypeSymlink, Linkname: "/"}), "is not a file"},
		"store in archive":  {archiveOf(t, tar.Header{Name: storeName}), "is damaged: choose another backup"},
		"link as the store": {archiveOf(t, tar.Header{Name: storeName, Typeflag: tar.TypeLink, Linkname: "x"}), "is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			d := dataDir{t, d.path}
			_, err := d.restores(writeFile(t, filepath.Join(t.TempDir(), "file"), c.data))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			same(t, "temporary files", names(t, d.file("tmp")), []string{})
		})
	}
	same(t, "messages", d.says(), []string{"one", "two"})
}

func archiveOf(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return data.String()
}

// restoreSteps are the points at which a restore is killed.
var restoreSteps = []string{"checked", "files added", "previous store closed", "previous store named", "logs removed", "renamed"}

// TestRestore_KilledAtEachStep kills a process that restores. The directory has the previous store or the
// new one then, each complete, and the restore can be repeated.
func TestRestore_KilledAtEachStep(t *testing.T) {
	if at := os.Getenv("RESTORE_KILLED_AT"); at != "" {
		restoreUntil(t, at)
		return
	}
	t.Parallel()
	source := newDataDir(t, "one")
	source.imports("one", "a picture")
	path := writeFile(t, filepath.Join(t.TempDir(), "copy.tar"), backupOf(source, true))
	for _, step := range restoreSteps {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			d := newDataDir(t, "one", "two")
			d.imports("two", "another picture")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRestore_KilledAtEachStep$")
			cmd.Env = append(os.Environ(), "RESTORE_KILLED_AT="+step, "RESTORE_FROM="+path, "RESTORE_TO="+d.path)
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
				t.Fatalf("the process was not killed: %v\n%s", err, out)
			}
			want := []string{"one", "two"}
			if step == "renamed" {
				want = []string{"one"}
			}
			same(t, "messages", d.says(), want)
			d.do(os.RemoveAll(d.file("tmp"))) // as a start does
			d.do(os.Mkdir(d.file("tmp"), 0o700))
			r, err := d.restores(path)
			if err != nil || r.MissingFiles != 0 || !exists(r.Previous) {
				t.Fatalf("again: %+v, %v", r, err)
			}
			same(t, "messages", d.says(), []string{"one"})
			same(t, "imported files", len(names(t, d.file(importedName))), 2)
		})
	}
}

// restoreUntil restores in this process, and kills it at a step.
func restoreUntil(t *testing.T, at string) {
	file, err := os.Open(os.Getenv("RESTORE_FROM"))
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("RESTORE_TO")
	target := Target{DataDir: dir, TempDir: filepath.Join(dir, "tmp"), Now: time.Now(), step: func(name string) {
		if name == at {
			process, err := os.FindProcess(os.Getpid())
			if err := errors.Join(err, process.Kill()); err != nil {
				t.Fatal(err)
			}
			select {}
		}
	}}
	_, err = Restore(t.Context(), target, file, "copy.tar")
	t.Fatalf("there is no step %s: %v", at, err)
}
