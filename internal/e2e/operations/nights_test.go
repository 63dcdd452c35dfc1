package operations

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

// lastNight is the name of a backup that is too old to be that of the last night.
const lastNight = "bridged-2026-01-01T033000Z.db"

// backupsIn returns the names of the files in BACKUP_DIR, and the complete backups among them.
func backupsIn(t *testing.T, dir string) (all, complete []string) {
	t.Helper()
	for _, entry := range Must(os.ReadDir(dir))(t) {
		all = append(all, entry.Name())
		if strings.HasPrefix(entry.Name(), "bridged-") && !strings.Contains(entry.Name(), ".part") {
			complete = append(complete, entry.Name())
		}
	}
	return all, complete
}

// failuresOf returns the events of failed backups.
func failuresOf(p *Process) []bridge.Event {
	return slices.DeleteFunc(p.AllEvents(""), func(e bridge.Event) bool { return e.Type != bridge.EventBackupFailed })
}

// makesBackup waits until the backup of the last night is there, and returns its name.
func makesBackup(t *testing.T, p *Process, dir string) (name string) {
	t.Helper()
	Eventually(t, func() error {
		stats := Must(p.API.Stats(Within(t), bridge.Time{}))(t)
		_, complete := backupsIn(t, dir)
		if stats.Backups == nil || stats.Backups.Error != nil || len(complete) == 0 || complete[len(complete)-1] == lastNight {
			return fmt.Errorf("%+v, with %v", stats.Backups, complete)
		}
		name = complete[len(complete)-1]
		return nil
	})
	return name
}

// restoresTo restores a backup into a new directory, which checks it.
func restoresTo(t *testing.T, p *Process, file string) {
	t.Helper()
	cmd := Bridged("restore", file)
	cmd.Env = append(p.CommandEnv(), "DATA_DIR="+filepath.Join(t.TempDir(), "data"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", file, err, out)
	}
}

// TestNights_OverAKill kills the bridge while it makes its backup. No incomplete file has the name of a
// backup, and the next start makes the backup and removes the part.
func TestNights_OverAKill(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "before the night"))
	p, dir := c.Bridge, t.TempDir()
	p.Stop()
	p.InDatabase("bridged.db", "INSERT INTO settings (name, value) VALUES ('padding', hex(randomblob(20000000)))") // so that copying takes a while
	if out, err := p.Command("backup", filepath.Join(dir, lastNight)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.Set("BACKUP_DIR=" + dir)
	p.Start()
	Eventually(t, func() error {
		all, complete := backupsIn(t, dir)
		if len(all) == 1 {
			return errors.New("no backup has begun")
		}
		t.Logf("killed with %v, complete %v", all, complete)
		return nil
	})
	p.Kill()
	_, complete := backupsIn(t, dir)
	for _, name := range complete {
		restoresTo(t, p, filepath.Join(dir, name))
	}
	p.Start()
	restoresTo(t, p, filepath.Join(dir, makesBackup(t, p, dir)))
	if all, complete := backupsIn(t, dir); len(all) != 2 || len(complete) != 2 {
		t.Errorf("the directory has %v", all)
	}
	p.Restart()
	p.Becomes(bridge.StateOpen)
	if all, _ := backupsIn(t, dir); len(all) != 2 {
		t.Errorf("another start in the same night: %v", all)
	}
}

// TestNights_OverAFullDisk: old backups stay, and the log, an event, the metrics, the status and the doctor
// say what to do.
func TestNights_OverAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", dir).Run(); err != nil {
			t.Error(err)
		}
	})
	c := PairedCast(t)
	p := c.Bridge
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "before the night"))
	if out, err := p.Command("backup", filepath.Join(dir, lastNight)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	old := Must(os.ReadFile(filepath.Join(dir, lastNight)))(t)
	full := Must(os.Create(filepath.Join(dir, "other")))(t)
	for err := error(nil); err == nil; {
		_, err = full.Write(make([]byte, 4096))
	}
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	p.Set("BACKUP_DIR="+dir, "BACKUP_KEEP=1")
	p.Start()
	const sentence = "is full: the backup needs 1 MB and 0 MB are free, so make room, or choose another directory"
	var failed []bridge.Event
	Eventually(t, func() error {
		if failed = failuresOf(p); len(failed) == 0 {
			return errors.New("no event says that the backup failed")
		}
		return nil
	})
	if b := failed[0].Backup; len(failed) != 1 || !strings.Contains(b.Error, sentence) || b.LastAt == nil || b.LastAt.Year() != 2026 {
		t.Errorf("the events: %+v", failed)
	}
	p.WaitForLog(t, "backup failed; older backups stay")
	stats := Must(p.API.Stats(Within(t), bridge.Time{}))(t)
	if b := stats.Backups; b == nil || b.Error == nil || !strings.Contains(*b.Error, sentence) || b.FailedAt == nil || *b.LastBytes != int64(len(old)) {
		t.Errorf("the backups in the stats: %+v", stats.Backups)
	}
	for _, line := range []string{"bridged_backup_failures_total 1\n", "bridged_backup_last_success_timestamp_seconds 1.7672382e+09\n"} {
		if served := string(p.Get("/metrics").Want(http.StatusOK).Body); !strings.Contains(served, line) {
			t.Errorf("/metrics has no %s", line)
		}
	}
	p.Doctor().Expect(t, "backups", "warn", "the newest is of 2026-01-01 03:30:00 UTC, ")
	if all, _ := backupsIn(t, dir); !slices.Equal(all, []string{lastNight, "other"}) || !bytes.Equal(Must(os.ReadFile(filepath.Join(dir, lastNight)))(t), old) {
		t.Errorf("the directory has %v", all)
	}
	p.Restart()
	Eventually(t, func() error {
		if b := Must(p.API.Stats(Within(t), bridge.Time{}))(t).Backups; b.Error == nil {
			return errors.New("the backup was not tried after a restart")
		}
		return nil
	})
	if failed := failuresOf(p); len(failed) != 1 {
		t.Errorf("a restart in the same night logged %d events", len(failed))
	}
	if err := os.Remove(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	p.Restart()
	name := makesBackup(t, p, dir)
	restoresTo(t, p, filepath.Join(dir, name))
	if all, _ := backupsIn(t, dir); !slices.Equal(all, []string{name}) {
		t.Errorf("with BACKUP_KEEP=1 the directory has %v", all)
	}
	p.Doctor().Expect(t, "backups", "ok", "; the next is due at ")
}
