package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
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
			network, owner := newOwner(t, simnet.PhoneOptions{})
			friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
			p := startBridge(t, network)
			device := pair(t, p, owner)
			dir := p.env["DATA_DIR"]
			if err := test.harm(dir); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() error {
				status := p.status()
				if status.Status == bridge.StateOpen || !strings.Contains(orNone(status.LastError), "was removed or replaced") {
					return fmt.Errorf("status %s, lastError %s", status.Status, orNone(status.LastError))
				}
				return nil
			})
			refused(t, p.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeStorageUnavailable, "removed or replaced", "restart")
			refused(t, p.Post("/api/messages/send", object{"jid": friend.PN().String(), "text": "never"}),
				http.StatusServiceUnavailable, bridge.CodeStorageUnavailable, "put it back")
			id := must(friend.SendText(within(t), owner.PN(), "not lost"))(t)
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
			if status := p.becomes(bridge.StateOpen); status.LastError != nil {
				t.Errorf("lastError %q after the files came back", *status.LastError)
			}
			if err := device.WaitAcknowledged(within(t), id); err != nil {
				t.Fatal(err)
			}
			p.restart()
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
