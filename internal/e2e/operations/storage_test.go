package operations

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestDataDir_TakenAwayIsNoticed removes the files of a running bridge. SQLite does
// not notice and goes on writing into files that are lost. From then on nothing may
// be acknowledged or sent, and the status has to report it, even without a write.
func TestDataDir_TakenAwayIsNoticed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm, undo func(dir string) error // undo is nil if the same files cannot come back
	}{
		"removed":   {harm: os.RemoveAll},
		"unmounted": {harm: func(dir string) error { return os.Rename(dir, dir+".away") }, undo: func(dir string) error { return os.Rename(dir+".away", dir) }},
		"messages replaced": {harm: func(dir string) error { return replaceFile(filepath.Join(dir, "bridged.db")) }, undo: func(dir string) error {
			return os.Rename(filepath.Join(dir, "bridged.db.away"), filepath.Join(dir, "bridged.db"))
		}},
		"session replaced": {harm: func(dir string) error { return replaceFile(filepath.Join(dir, "session.db")) }},
		"log removed":      {harm: func(dir string) error { return os.Remove(filepath.Join(dir, "bridged.db-wal")) }},
		"lock removed":     {harm: func(dir string) error { return os.Remove(filepath.Join(dir, "bridged.lock")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, owner := NewOwner(t, simnet.PhoneOptions{})
			friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
			p := StartBridge(t, network)
			device := Pair(t, p, owner)
			dir := p.Env["DATA_DIR"]
			if err := test.harm(dir); err != nil {
				t.Fatal(err)
			}
			Eventually(t, func() error {
				status := p.Status()
				if status.Status == bridge.StateOpen || !strings.Contains(OrNone(status.LastError), "was removed or replaced") {
					return fmt.Errorf("status %s, lastError %s", status.Status, OrNone(status.LastError))
				}
				return nil
			})
			Refused(t, p.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeStorageUnavailable, "removed or replaced", "restart")
			Refused(t, p.Post("/api/messages/send", Object{"jid": friend.PN().String(), "text": "never"}),
				http.StatusServiceUnavailable, bridge.CodeStorageUnavailable, "put it back")
			id := Must(friend.SendText(Within(t), owner.PN(), "not lost"))(t)
			for _, acknowledged := range device.AcknowledgedMessages() {
				if acknowledged.ID == id {
					t.Error("a message was acknowledged that went into a lost file")
				}
			}
			if test.undo == nil {
				if _, err := os.Stat(filepath.Join(dir, "media")); name == "removed" && err == nil {
					t.Error("a data directory was made in place of the lost one")
				}
				return
			}
			if err := test.undo(dir); err != nil {
				t.Fatal(err)
			}
			if status := p.Becomes(bridge.StateOpen); status.LastError != nil {
				t.Errorf("lastError %q after the files came back", *status.LastError)
			}
			if err := device.WaitAcknowledged(Within(t), id); err != nil {
				t.Fatal(err)
			}
			p.Restart()
			var found struct{ Count int }
			p.Get("/api/messages/search?q=not+lost").Want(http.StatusOK).Decode(&found)
			if found.Count != 1 {
				t.Errorf("the message is there %d times", found.Count)
			}
		})
	}
}

// replaceFile replaces a file by a copy of itself.
func replaceFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.Rename(path, path+".away"); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
