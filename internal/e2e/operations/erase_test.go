package operations

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestDeleted_IsGoneFromTheDisk deletes a text and a picture with a caption while
// the bridge runs, and searches every file for their content.
func TestDeleted_IsGoneFromTheDisk(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	c := &Cast{Bridge: p, Owner: owner, Device: Pair(t, p, owner)}

	text := Must(friend.SendText(Within(t), owner.PN(), "the-deleted-text"))(t)
	picture := bytes.Repeat([]byte("\x89PNG\r\n\x1a\n the-deleted-picture "), 40)
	image := Must(friend.SendImage(Within(t), owner.PN(), simnet.Media{Data: picture, Mimetype: "image/png", Caption: "the-deleted-caption"}))(t)
	file := c.Arrived(t, image, friend.PN(), picture)
	c.Downloads(t, file)
	secrets := map[string][]byte{"the text": []byte("the-deleted-text"), "the caption": []byte("the-deleted-caption"), "the picture": []byte("the-deleted-picture")}
	for name, secret := range secrets {
		if len(p.InDataDir(secret)) == 0 {
			t.Fatalf("%s is nowhere: the test does not look where it is", name)
		}
	}
	for _, id := range []simnet.MessageID{text, image} {
		Must(friend.Revoke(Within(t), owner.PN(), id))(t)
	}
	p.Vanishes(secrets)
	Refused(t, p.Get(file.Path), http.StatusNotFound, bridge.CodeNotFound)
}

// TestRetention_IsGoneFromTheDisk: RETENTION_DAYS removes messages as thoroughly as
// their author's deletion.
func TestRetention_IsGoneFromTheDisk(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	device := Pair(t, p, owner)
	id := Must(friend.SendText(Within(t), owner.PN(), "the-old-text"))(t)
	if err := device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	p.InDatabase("bridged.db", "UPDATE messages SET timestamp = timestamp - 3 * 86400000")
	p.Set("RETENTION_DAYS=2")
	p.Start()
	p.Vanishes(map[string][]byte{"the text": []byte("the-old-text")})
}

// sessionSecrets returns the session's keys.
func sessionSecrets(p *Process) map[string][]byte {
	p.T.Helper()
	db := Must(sql.Open("sqlite", p.DatabasePath("session.db")))(p.T)
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
			p.T.Fatalf("%s: %v", name, err)
		}
		secrets[name] = secret
		if found := p.InDataDir(secret); len(found) == 0 {
			p.T.Fatalf("%s is nowhere: the test does not look where it is", name)
		}
	}
	return secrets
}

// TestLogout_LeavesNoKeyOnTheDisk: after a logout the disk must not contain a
// usable session.
func TestLogout_LeavesNoKeyOnTheDisk(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *Process, owner *simnet.Phone, device *simnet.Device){
		"logged out": func(p *Process, _ *simnet.Phone, _ *simnet.Device) {
			p.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "yes").Want(http.StatusOK)
		},
		"unlinked on the phone": func(_ *Process, owner *simnet.Phone, device *simnet.Device) {
			owner.Unlink(device)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, owner := NewOwner(t, simnet.PhoneOptions{})
			friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
			p := StartBridge(t, network)
			device := Pair(t, p, owner)
			id := Must(friend.SendText(Within(t), owner.PN(), "hello"))(t)
			if err := device.WaitAcknowledged(Within(t), id); err != nil {
				t.Fatal(err)
			}
			secrets := sessionSecrets(p)
			end(p, owner, device)
			p.Becomes(bridge.StateNeedsPair)
			for name, secret := range secrets {
				if found := p.InDataDir(secret); len(found) > 0 {
					t.Errorf("%s is still in %s", name, strings.Join(found, ", "))
				}
			}
			Pair(t, p, owner) // the file stays usable
		})
	}
}

// TestDeleted_IsGoneAfterAStop stops the bridge right after a text, a caption and a picture were
// deleted, many times: the stop finishes what it would otherwise leave to the next start.
func TestDeleted_IsGoneAfterAStop(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	c := &Cast{Bridge: p, Owner: owner, Device: Pair(t, p, owner)}
	for round := range 8 {
		if round > 0 {
			p.Start()
			p.Becomes(bridge.StateOpen)
		}
		word := fmt.Sprintf("-of-round-%d-", round)
		text := Must(friend.SendText(Within(t), owner.PN(), "the-text"+word))(t)
		picture := bytes.Repeat([]byte("\x89PNG\r\n\x1a\n the-picture"+word), 40)
		image := Must(friend.SendImage(Within(t), owner.PN(), simnet.Media{Data: picture, Mimetype: "image/png", Caption: "the-caption" + word}))(t)
		file := c.Arrived(t, image, friend.PN(), picture)
		c.Downloads(t, file)
		for _, id := range []simnet.MessageID{text, image} {
			Must(friend.Revoke(Within(t), owner.PN(), id))(t)
		}
		Eventually(t, func() error {
			if answer := p.Get(file.Path); answer.Status != http.StatusNotFound {
				return fmt.Errorf("the deletion has not arrived: %d", answer.Status)
			}
			return nil
		})
		p.Stop()
		if strings.Contains(p.Log.String(), "may still be on the disk") {
			t.Errorf("round %d: the stop did not erase what is deleted", round)
		}
		for _, secret := range []string{"the-text", "the-caption", "the-picture"} {
			if found := p.InDataDir([]byte(secret + word)); len(found) > 0 {
				t.Errorf("round %d: %s is still in %v", round, secret, found)
			}
		}
	}
}
