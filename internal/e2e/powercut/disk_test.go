package powercut_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	_ "modernc.org/sqlite"

	"bridged/internal/e2e/powercut"
)

// mounted mounts a disk for the duration of the test.
func mounted(t *testing.T, disk *powercut.Disk) (path string) {
	t.Helper()
	path = t.TempDir()
	mount, err := disk.Mount(path)
	if errors.Is(err, powercut.ErrNoFUSE) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mount.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return path
}

// contents returns the files that a cut would leave now, as "path=text".
func contents(disk *powercut.Disk) []string {
	files := disk.Files()
	var all []string
	for _, path := range slices.Sorted(maps.Keys(files)) {
		all = append(all, fmt.Sprintf("%s=%.10s", path, files[path]))
	}
	return all
}

// step is one action of a program on its files.
type step struct {
	name string
	do   func(dir string) error
	left []string // after a cut
}

func write(name, text string, flags int) func(string) error {
	return func(dir string) error {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|flags, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		return errors.Join(err, f.Close())
	}
}

func sync(name string) func(string) error {
	return func(dir string) error {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	}
}

// Bytes are kept as of the last fsync of their file, and names as of the last one
// of their directory.
func TestDisk_KeepsWhatWasSynced(t *testing.T) {
	disk := powercut.New()
	dir := mounted(t, disk)
	for _, s := range []step{
		{"a file", write("a", "first", os.O_CREATE), nil},
		{"its bytes", sync("a"), nil},
		{"its name", sync("."), []string{"a=first"}},
		{"a change", write("a", "FI", 0), []string{"a=first"}},
		{"the change synced", sync("a"), []string{"a=FIrst"}},
		{"a name before its bytes", write("b", "second", os.O_CREATE), []string{"a=FIrst"}},
		{"the name synced", sync("."), []string{"a=FIrst", "b="}},
		{"the bytes synced", sync("b"), []string{"a=FIrst", "b=second"}},
		{"a move", func(dir string) error { return os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a")) }, []string{"a=FIrst", "b=second"}},
		{"the move synced", sync("."), []string{"a=second"}},
		{"a file cut off", func(dir string) error { return os.Truncate(filepath.Join(dir, "a"), 3) }, []string{"a=second"}},
		{"and synced", sync("a"), []string{"a=sec"}},
		{"a folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, "sub"), 0o700) }, []string{"a=sec"}},
		{"a file in it", write("sub/c", "third", os.O_CREATE), []string{"a=sec"}},
		{"all but the folder synced", func(dir string) error { return errors.Join(sync("sub/c")(dir), sync("sub")(dir)) }, []string{"a=sec"}},
		{"the folder synced", sync("."), []string{"a=sec", "sub/c=third"}},
		{"a removal", func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, []string{"a=sec", "sub/c=third"}},
		{"and synced", sync("."), []string{"sub/c=third"}},
	} {
		if err := s.do(dir); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if got := contents(disk); !slices.Equal(got, s.left) {
			t.Errorf("%s: a cut leaves %q, want %q", s.name, got, s.left)
		}
	}
}

// Unsynced data may have reached the disk, too: single pages, but names only all
// together.
func TestDisk_MoreMaySurvive(t *testing.T) {
	disk := powercut.New()
	dir := mounted(t, disk)
	zeros, ones := bytes.Repeat([]byte("0"), 3*4096), bytes.Repeat([]byte("1"), 3*4096)
	for _, do := range []func(string) error{write("a", string(zeros), os.O_CREATE), sync("a"), sync("."), write("a", string(ones), 0)} {
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	left := disk.Remains(func() bool { asked++; return asked == 2 }).Files()["a"]
	if n := bytes.Count(left, []byte("1")); n != 4096 || len(left) != len(zeros) {
		t.Errorf("%d of %d bytes are new", n, len(left))
	}
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	all, none := disk.Remains(func() bool { return true }).Files(), disk.Remains(nil).Files()
	if !bytes.Equal(all["b"], ones) || len(all) != 1 {
		t.Errorf("where all survives there are %d files", len(all))
	}
	if !bytes.Equal(none["a"], zeros) || len(none) != 1 {
		t.Errorf("where nothing survives there are %d files", len(none))
	}
}

// writerOf names the directory in which another run of the test binary writes a
// database. A process that maps a file that it serves itself would deadlock.
const writerOf = "POWERCUT_WRITES_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerOf); dir != "" {
		if err := writeDatabase(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeDatabase commits rows, one after the other, until it is killed, and prints
// their number after each commit.
func writeDatabase(dir string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "x.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	if _, err := db.Exec("CREATE TABLE IF NOT EXISTS t (n INTEGER)"); err != nil {
		return err
	}
	if err := sync(".")(dir); err != nil { // SQLite syncs the directory for its log, but not for the database
		return err
	}
	for {
		var rows int
		if _, err := db.Exec("INSERT INTO t VALUES (1)"); err != nil {
			return err
		}
		if err := db.QueryRow("SELECT count(*) FROM t").Scan(&rows); err != nil {
			return err
		}
		fmt.Println(rows)
	}
}

// SQLite works on the disk, log, shared memory and all, and finds every commit
// whose sync it has waited for.
func TestDisk_HoldsADatabase(t *testing.T) {
	disk, committed := powercut.New(), 0
	for round := range 4 {
		disk, committed = cutWriter(t, disk, committed)
		if committed < (round+1)*100 {
			t.Fatalf("round %d: %d rows", round, committed)
		}
	}
}

// cutWriter cuts the power while a program writes, and returns the remains and the
// number of rows committed for certain. The program must find the earlier rows.
func cutWriter(t *testing.T, disk *powercut.Disk, before int) (left *powercut.Disk, committed int) {
	t.Helper()
	dir := mounted(t, disk)
	writer := exec.Command(os.Args[0])
	writer.Env, writer.Stderr = append(os.Environ(), writerOf+"="+dir), os.Stderr
	printed, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		if committed == 0 && n <= before {
			t.Errorf("%d rows are left of %d", n-1, before)
		}
		if committed = n; committed >= before+120 {
			break
		}
	}
	disk.Cut(func() {
		if err := writer.Process.Kill(); err != nil {
			t.Error(err)
		}
	})
	for lines.Scan() { // it may have committed more before
		if committed, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
	}
	_ = writer.Wait() // it was killed
	return disk.Remains(nil), committed
}
