package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // reads the files of a stopped bridge

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// inDataDir returns the places in the data directory's files that contain the given
// bytes.
func (p *process) inDataDir(what []byte) (found []string) {
	p.t.Helper()
	err := filepath.WalkDir(p.env["DATA_DIR"], func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, what) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// vanishes waits until the data directory contains no trace of the secrets.
func (p *process) vanishes(secrets map[string][]byte) {
	p.t.Helper()
	eventually(p.t, func() error {
		for name, secret := range secrets {
			if found := p.inDataDir(secret); len(found) > 0 {
				return fmt.Errorf("%s is still in %v", name, found)
			}
		}
		return nil
	})
}

// TestDeleted_IsGoneFromTheDisk deletes a text and a picture with a caption while
// the bridge runs, and searches every file for their content.
func TestDeleted_IsGoneFromTheDisk(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	c := &cast{bridge: p, owner: owner, device: pair(t, p, owner)}

	text := must(friend.SendText(within(t), owner.PN(), "the-deleted-text"))(t)
	picture := bytes.Repeat([]byte("\x89PNG\r\n\x1a\n the-deleted-picture "), 40)
	image := must(friend.SendImage(within(t), owner.PN(), simnet.Media{Data: picture, Mimetype: "image/png", Caption: "the-deleted-caption"}))(t)
	file := c.arrived(t, image, friend.PN(), picture)
	c.downloads(t, file)
	secrets := map[string][]byte{"the text": []byte("the-deleted-text"), "the caption": []byte("the-deleted-caption"), "the picture": []byte("the-deleted-picture")}
	for name, secret := range secrets {
		if len(p.inDataDir(secret)) == 0 {
			t.Fatalf("%s is nowhere: the test does not look where it is", name)
		}
	}
	for _, id := range []simnet.MessageID{text, image} {
		must(friend.Revoke(within(t), owner.PN(), id))(t)
	}
	p.vanishes(secrets)
	refused(t, p.Get(file.path), http.StatusNotFound, bridge.CodeNotFound)
}

// TestRetention_IsGoneFromTheDisk: RETENTION_DAYS removes messages as thoroughly as
// their author's deletion.
func TestRetention_IsGoneFromTheDisk(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	device := pair(t, p, owner)
	id := must(friend.SendText(within(t), owner.PN(), "the-old-text"))(t)
	if err := device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
	p.stop()
	p.inDatabase("bridged.db", "UPDATE messages SET timestamp = timestamp - 3 * 86400000")
	p.set("RETENTION_DAYS=2")
	p.start()
	p.vanishes(map[string][]byte{"the text": []byte("the-old-text")})
}

// inDatabase runs a statement in a database of the stopped bridge.
func (p *process) inDatabase(name, query string) {
	p.t.Helper()
	db := must(sql.Open("sqlite", p.databasePath(name)))(p.t)
	_, err := db.Exec(query)
	if err := errors.Join(err, db.Close()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) databasePath(name string) string {
	return "file:" + (&url.URL{Path: filepath.Join(p.env["DATA_DIR"], name)}).EscapedPath()
}

// sessionSecrets returns the session's keys.
func (p *process) sessionSecrets() map[string][]byte {
	p.t.Helper()
	db := must(sql.Open("sqlite", p.databasePath("session.db")))(p.t)
	defer db.Close()
	secrets := map[string][]byte{}
	for name, query := range map[string]string{
		"the noise key":         "SELECT noise_key FROM whatsmeow_device",
		"the identity key":      "SELECT identity_key FROM whatsmeow_device",
		"the signed prekey":     "SELECT signed_pre_key FROM whatsmeow_device",
		"the adv secret":        "SELECT adv_key FROM whatsmeow_device",
		"a prekey":              "SELECT key FROM whatsmeow_pre_keys LIMIT 1",
		"a Signal session":      "SELECT substr(session, 1, 60) FROM whatsmeow_sessions LIMIT 1",
		"an app state sync key": "SELECT key_data FROM whatsmeow_app_state_sync_keys LIMIT 1",
	} {
		var secret []byte
		if err := db.QueryRow(query).Scan(&secret); err != nil {
			p.t.Fatalf("%s: %v", name, err)
		}
		secrets[name] = secret
		if found := p.inDataDir(secret); len(found) == 0 {
			p.t.Fatalf("%s is nowhere: the test does not look where it is", name)
		}
	}
	return secrets
}

// TestLogout_LeavesNoKeyOnTheDisk: after a logout the disk must not contain a
// usable session.
func TestLogout_LeavesNoKeyOnTheDisk(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *process, owner *simnet.Phone, device *simnet.Device){
		"logged out": func(p *process, _ *simnet.Phone, _ *simnet.Device) {
			p.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "yes").Want(http.StatusOK)
		},
		"unlinked on the phone": func(_ *process, owner *simnet.Phone, device *simnet.Device) {
			owner.Unlink(device)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, owner := newOwner(t, simnet.PhoneOptions{})
			friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
			p := startBridge(t, network)
			device := pair(t, p, owner)
			id := must(friend.SendText(within(t), owner.PN(), "hello"))(t)
			if err := device.WaitAcknowledged(within(t), id); err != nil {
				t.Fatal(err)
			}
			secrets := p.sessionSecrets()
			end(p, owner, device)
			p.becomes(bridge.StateNeedsPair)
			for name, secret := range secrets {
				if found := p.inDataDir(secret); len(found) > 0 {
					t.Errorf("%s is still in %s", name, strings.Join(found, ", "))
				}
			}
			pair(t, p, owner) // the file stays usable
		})
	}
}

// TestDeleted_IsGoneAfterAStop stops the bridge right after a text, a caption and a picture were
// deleted, many times: the stop finishes what it would otherwise leave to the next start.
func TestDeleted_IsGoneAfterAStop(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	c := &cast{bridge: p, owner: owner, device: pair(t, p, owner)}
	for round := range 8 {
		if round > 0 {
			p.start()
			p.becomes(bridge.StateOpen)
		}
		word := fmt.Sprintf("-of-round-%d-", round)
		text := must(friend.SendText(within(t), owner.PN(), "the-text"+word))(t)
		picture := bytes.Repeat([]byte("\x89PNG\r\n\x1a\n the-picture"+word), 40)
		image := must(friend.SendImage(within(t), owner.PN(), simnet.Media{Data: picture, Mimetype: "image/png", Caption: "the-caption" + word}))(t)
		file := c.arrived(t, image, friend.PN(), picture)
		c.downloads(t, file)
		for _, id := range []simnet.MessageID{text, image} {
			must(friend.Revoke(within(t), owner.PN(), id))(t)
		}
		eventually(t, func() error {
			if answer := p.Get(file.path); answer.Status != http.StatusNotFound {
				return fmt.Errorf("the deletion has not arrived: %d", answer.Status)
			}
			return nil
		})
		p.stop()
		if strings.Contains(p.log.String(), "may still be on the disk") {
			t.Errorf("round %d: the stop did not erase what is deleted", round)
		}
		for _, secret := range []string{"the-text", "the-caption", "the-picture"} {
			if found := p.inDataDir([]byte(secret + word)); len(found) > 0 {
				t.Errorf("round %d: %s is still in %v", round, secret, found)
			}
		}
	}
}
